import type { JsonObject } from '../../contract/base/json.ts'
import type { Runtime, Session } from '../../contract/runtime.ts'
import { isIssue, toJson } from '../../kit/json/to-json.ts'
import { isPlainObject } from '../../kit/json/is-plain-object.ts'
import { messageOf } from '../../kit/text/message-of.ts'
import { showControlsInLine } from '../../kit/text/show-controls.ts'
import { claudeCode } from '../agents/claude-code.ts'
import { decideCall, endCall, endSession } from '../agents/decide-call.ts'
import { mapCall } from '../agents/map-call.ts'
import type { ToolMessage } from '../agents/native-agent.ts'
import { objectOf, textOf } from '../agents/read-fields.ts'
import type { GivenVerdict, Verdicts } from './create-verdicts.ts'
import { serverName, type OwnTools } from './open-own-tools.ts'

/** `HookCallback` of the SDK. */
export type ClaudeHook = (
  message: unknown,
  id: string | undefined,
  about: { signal: AbortSignal },
) => Promise<ClaudeHookAnswer>

/** What the door answers before a tool. After one it answers nothing. */
export interface ClaudeHookAnswer {
  hookSpecificOutput?: {
    hookEventName: 'PreToolUse'
    permissionDecision: 'allow' | 'ask' | 'deny'
    permissionDecisionReason: string
  }
}

/** What the hook stands on. */
export interface HookParts {
  readonly session: Session
  readonly runtime: Runtime
  readonly own: OwnTools
  readonly verdicts: Verdicts
}

/** The one hook of all events. What goes wrong before a call is a denial. */
export function createHook(parts: HookParts): ClaudeHook {
  const { runtime, verdicts } = parts
  const observers = createObservers(parts)
  return async (given, _, { signal }) => {
    const said = readObject(given)
    const message = typeof said === 'string' ? said : claudeCode.read(said, undefined)
    if (typeof message === 'string') return toAnswer(toRefusal(message))
    const isOwn = typeof said !== 'string' && 'tool' in message && isOfServer(message, said)
    switch (message.kind) {
      case 'before': {
        const verdict = await (
          isOwn
            ? decideOwn(message, signal, { ...parts, observers })
            : decideNative(message, { runtime, observers })
        ).catch((cause: unknown) => toRefusal(messageOf(cause)))
        verdicts.keep(message.id ?? '', verdict)
        return toAnswer(verdict)
      }
      case 'after': {
        verdicts.forget(message.id ?? '')
        const { outcome, response } = message
        if (!isOwn) await endCall(message, { outcome, response }, observers.of(message.session))
        return {}
      }
      case 'over':
        if (typeof said !== 'string' && !runsOn(said)) await observers.end(message.session)
        return {}
      case 'other':
        return {}
    }
  }
}

/** What the SDK says, as a copy that nothing changes; a string says what is wrong with it. */
function readObject(given: unknown): JsonObject | string {
  const copied = toJson(given)
  return !isIssue(copied) && isPlainObject(copied.json) ? copied.json : 'it is not a JSON object'
}

/** Whether a call is one of the door's own server. Only the program itself can register one of the source `sdk`. */
function isOfServer({ server }: ToolMessage, said: JsonObject): boolean {
  if (server?.name !== serverName) return false
  const told = objectOf(said['mcp_server'])
  return told === undefined || textOf(told, 'source') === 'sdk'
}

/** What runs in the background after a turn tells its end later. */
function runsOn({ background_tasks: tasks }: JsonObject): boolean {
  return Array.isArray(tasks) && tasks.length > 0
}

type Observers = ReturnType<typeof createObservers>

/** The observer of one session of the agent. */
interface Observer {
  readonly session: Session
  /** Resolves when what an earlier run left open has its end. Undefined if a run was ended since. */
  ready: Promise<number> | undefined
}

/** A session for each one of the agent, the same in every process, so that a run that is resumed is one in the evidence. */
function createObservers({ session, runtime }: HookParts) {
  const opened = new Map<string, Observer>()
  const open = (id: string): Observer => {
    let observer = opened.get(id)
    if (observer !== undefined) return observer
    const { role } = session.principal
    const observes = { agent: 'claude-agent-sdk', session: id }
    observer = { session: runtime.session({ parent: session, role, observes }), ready: undefined }
    opened.set(id, observer)
    return observer
  }
  return {
    of: (id: string) => ({ runtime, session: open(id).session }),
    /** Before a call: what is open from before the run was interrupted, or of a process that ended, will not be told. */
    async start(id: string) {
      const observer = open(id)
      await (observer.ready ??= endSession(observer.session))
      return { runtime, session: observer.session }
    },
    interrupt(id: string): void {
      const observer = opened.get(id)
      if (observer !== undefined) observer.ready = undefined
    },
    async end(id: string): Promise<void> {
      const observer = opened.get(id)
      if (observer === undefined) return
      opened.delete(id)
      await endSession(observer.session)
      await observer.session.close()
    },
  }
}

async function decideOwn(
  { session, server, id = '', input }: ToolMessage,
  signal: AbortSignal,
  { own, observers }: HookParts & { observers: Observers },
): Promise<GivenVerdict> {
  const verdict = await own.decide({ name: server?.tool ?? '', id, input, signal })
  return {
    ...verdict,
    drop: async () => (verdict.waiting === true ? observers.interrupt(session) : undefined),
  }
}

async function decideNative(
  message: ToolMessage,
  { runtime, observers }: { runtime: Runtime; observers: Observers },
): Promise<GivenVerdict> {
  const where = await observers.start(message.session)
  const decided = mapCall(claudeCode, message, message.cwd ?? runtime.project)
  const verdict = await decideCall(claudeCode, message, { ...where, decided, keeps: true })
  return {
    ...verdict,
    reason: `Handrail: ${showControlsInLine(verdict.reason)}`,
    drop: async () =>
      verdict.waiting === true
        ? observers.interrupt(message.session)
        : void (await endCall(message, { outcome: 'aborted' }, where)),
  }
}

function toRefusal(why: string): GivenVerdict {
  return {
    effect: 'deny',
    reason: `Handrail could not decide about this call, so it is denied: ${showControlsInLine(why)}`,
    drop: async () => undefined,
  }
}

/** What waits for a person comes to `canUseTool`, which ends the run. */
function toAnswer({ effect, waiting, reason }: GivenVerdict): ClaudeHookAnswer {
  if (effect === 'none') return {}
  return {
    hookSpecificOutput: {
      hookEventName: 'PreToolUse',
      permissionDecision: waiting === true ? 'ask' : effect,
      permissionDecisionReason: reason,
    },
  }
}
