import type { HookMatcher, PreToolUseAnswer, PreToolUseEvent, PreToolUseHook } from '../../contract/hook.ts'
import type { ToolDefinition } from '../../contract/tool.ts'
import { callError } from '../../kit/call-error.ts'
import { isPlainObject } from '../../kit/is-plain-object.ts'
import { matchPattern } from '../../kit/match-pattern.ts'
import { pass, stop, type CheckedInput, type Hooked, type Planned, type Stopped } from '../passage.ts'
import type { Road } from '../ground.ts'
import { withinTime } from '../within-time.ts'

/** Step 5: every PreToolUse hook that matches says go on. A hook can stop a call or add notes; it cannot allow anything. */
export function askHooks(planned: Planned, road: Road): Hooked | Promise<Hooked | Stopped> {
  return road.ground.hooks.before.length === 0
    ? pass<Hooked>(planned, { hookNotes: noNotes })
    : askEach(planned, road)
}

const noNotes: readonly string[] = []

async function askEach(planned: Planned, road: Road): Promise<Hooked | Stopped> {
  const { before } = road.ground.hooks
  const notes: string[] = []
  for (const hook of before) {
    if (!matchesHook(hook, planned.registered.definition)) continue
    const answer = await askHook(hook, planned, road)
    if (answer.decision === 'deny') {
      return stop(
        'hook',
        planned,
        callError('POLICY.HOOK_DENIED', answer.failed ? 'hook_failed' : 'hook_denied', {
          message: `The hook "${hook.name}" stopped "${planned.registered.definition.name}": ${answer.reason}`,
          data: { hook: hook.name },
        }),
      )
    }
    notes.push(...answer.notes)
  }
  return pass<Hooked>(planned, { hookNotes: notes })
}

/** Whole names and tags only: a pattern `Write` never hits `TodoWrite`. */
export function matchesHook(hook: HookMatcher, definition: ToolDefinition): boolean {
  if (hook.tools !== undefined && !hook.tools.some((pattern) => matchPattern(pattern, definition.name)))
    return false
  return hook.tags === undefined || hook.tags.some((tag) => definition.tags.includes(tag))
}

type HookVerdict =
  | { decision: 'allow'; notes: readonly string[] }
  | { decision: 'deny'; reason: string; failed: boolean }

async function askHook(hook: PreToolUseHook, planned: Planned, road: Road): Promise<HookVerdict> {
  const timeoutMs = hook.timeoutMs ?? 30_000
  try {
    const event = toHookEvent(planned, road)
    const answer = await withinTime(timeoutMs, async (signal) => hook.before(event, signal))
    return readAnswer(answer)
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    return { decision: 'deny', failed: true, reason: `it failed (${message}), and a hook that fails denies` }
  }
}

/** Anything but a clear allow denies. */
function readAnswer(answer: unknown): HookVerdict {
  if (isPlainObject(answer) && answer['decision'] === 'allow')
    return { decision: 'allow', notes: toNotes(answer['notes']) }
  if (isPlainObject(answer) && answer['decision'] === 'deny') {
    const { reason } = answer satisfies Record<string, unknown> as Partial<
      Extract<PreToolUseAnswer, { decision: 'deny' }>
    >
    return {
      decision: 'deny',
      failed: false,
      reason: typeof reason === 'string' ? reason : 'no reason given',
    }
  }
  return { decision: 'deny', failed: true, reason: 'it answered neither allow nor deny' }
}

function toNotes(notes: unknown): string[] {
  return Array.isArray(notes) ? notes.filter((note) => typeof note === 'string') : []
}

/** What a hook sees. The input is a copy, so that no hook can change the call. */
export function toHookEvent(checked: CheckedInput, { ground, session }: Road): PreToolUseEvent {
  const { definition } = checked.registered
  return {
    callId: checked.call.id,
    tool: definition.name,
    permission: definition.permission,
    tags: definition.tags,
    input: structuredClone(checked.input),
    principal: session.principal,
    session: session.id,
    project: ground.project,
  }
}
