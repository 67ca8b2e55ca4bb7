import type { HookMatcher, PreToolUseEvent, PreToolUseHook } from '../../../contract/hook.ts'
import type { ToolDefinition } from '../../../contract/tool/tool.ts'
import { callError } from '../../../kit/result/call-error.ts'
import { copyJson } from '../../../kit/json/copy-json.ts'
import { isPlainObject } from '../../../kit/json/is-plain-object.ts'
import { messageOf } from '../../../kit/text/message-of.ts'
import { meetsPatterns } from '../../../kit/match/match-pattern.ts'
import { advance } from '../../state/advance.ts'
import { halt, type CheckedInput, type Hooked, type Planned, type Halted } from '../../state/call-state.ts'
import type { CallScope } from '../../state/scope.ts'
import { withinTime } from '../../../kit/time/within-time.ts'

/**
 * Step 5: every PreToolUse hook that matches says go on. A hook can stop a call or add notes; it cannot allow anything. It is told if
 * the call is not made, and a preflight asks what would become of it.
 */
export function askHooks(
  planned: Planned,
  scope: CallScope,
  preflight = false,
): Hooked | Promise<Hooked | Halted> {
  return scope.tenant.hooks.before.length === 0
    ? advance.hook(planned, { hookNotes: noNotes })
    : askEach(planned, scope, preflight)
}

const noNotes: readonly string[] = []

async function askEach(planned: Planned, scope: CallScope, preflight: boolean): Promise<Hooked | Halted> {
  const { before } = scope.tenant.hooks
  const notes: string[] = []
  for (const hook of before) {
    if (!matchesHook(hook, planned.registered.definition)) continue
    const answer = await askHook(hook, { ...toHookEvent(planned, scope), preflight })
    if (answer.decision === 'deny') {
      return halt(
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
  return advance.hook(planned, { hookNotes: notes })
}

/** Whole names and tags only: a pattern `Write` never hits `TodoWrite`. */
export function matchesHook(hook: HookMatcher, definition: ToolDefinition): boolean {
  if (!meetsPatterns(hook.tools, definition.name)) return false
  return hook.tags === undefined || hook.tags.some((tag) => definition.tags.includes(tag))
}

type HookVerdict =
  | { decision: 'allow'; notes: readonly string[] }
  | { decision: 'deny'; reason: string; failed: boolean }

async function askHook(hook: PreToolUseHook, event: PreToolUseEvent): Promise<HookVerdict> {
  const timeoutMs = hook.timeoutMs ?? 30_000
  try {
    const answer = await withinTime(timeoutMs, async (signal) => hook.before(event, signal))
    return readAnswer(answer)
  } catch (error) {
    return {
      decision: 'deny',
      failed: true,
      reason: `it failed (${messageOf(error)}), and a hook that fails denies`,
    }
  }
}

/** Anything but a clear allow denies. */
function readAnswer(answer: unknown): HookVerdict {
  if (isPlainObject(answer) && answer['decision'] === 'allow')
    return { decision: 'allow', notes: toNotes(answer['notes']) }
  if (isPlainObject(answer) && answer['decision'] === 'deny') {
    const reason = answer['reason']
    return {
      decision: 'deny',
      failed: false,
      reason: typeof reason === 'string' ? reason : 'no reason given',
    }
  }
  return { decision: 'deny', failed: true, reason: 'it answered neither allow nor deny' }
}

/** So many notes of a hook are kept, of so many characters each: they stand in results. */
const maxNotes = 20
const longestNote = 1_000

function toNotes(notes: unknown): string[] {
  if (!Array.isArray(notes)) return []
  const texts = notes.filter((note) => typeof note === 'string').slice(0, maxNotes)
  return texts.map((note) => (note.length <= longestNote ? note : `${note.slice(0, longestNote)}…`))
}

/** What a hook sees: copies, so that no hook can change the call. */
export function toHookEvent(checked: CheckedInput, { tenant, session }: CallScope): PreToolUseEvent {
  const { definition } = checked.registered
  return {
    callId: checked.call.id,
    tool: definition.name,
    permission: definition.permission,
    tags: [...definition.tags],
    input: copyJson(checked.input),
    principal: session.principal,
    session: session.id,
    project: tenant.project,
    preflight: false,
  }
}
