import type { RuntimeEvent } from '../../../contract/events.ts'
import type { NoteRecord } from '../../../contract/evidence.ts'
import type { ToolResult } from '../../../contract/base/result.ts'
import type { Changes, Entry } from '../../../contract/store.ts'
import type { CallFacts } from '../../../contract/telemetry.ts'
import { copyJson } from '../../../kit/json/copy-json.ts'
import { encodeResult } from '../../../kit/result/encode-result.ts'
import { isFactChanged } from '../../../kit/result/is-fact-changed.ts'
import { logLevel } from '../../../kit/result/log-level.ts'
import { takesRecords } from '../../../kit/takes-records.ts'
import { andThen } from '../../../kit/time/and-then.ts'
import { toBegin } from '../../record/begin-record.ts'
import { spentByBudget } from '../../limits/budgets.ts'
import { toEnd, toEventName } from '../../record/end-record.ts'
import type { CallScope } from '../../state/scope.ts'
import {
  halt,
  isChecked,
  isHalted,
  stateOf,
  type CheckedInput,
  type Ended,
  type Parked,
} from '../../state/call-state.ts'
import { settleRepeat } from '../../limits/repeats.ts'
import { durationOf, endLate, toChanges } from '../../record/settle-call.ts'
import { toResult, toUnrecorded } from '../../record/to-result.ts'
import { withinTime } from '../../../kit/time/within-time.ts'
import { matchesHook, toHookEvent } from './hook.ts'

/**
 * Step 10: the end of every call, whatever happened to it: its result, its end record (with its begin if there is none yet) in
 * one transaction, its event, and the hooks that observe it.
 */
export function record(ended: Ended, scope: CallScope): ToolResult | Promise<ToolResult> {
  const { tenant } = scope
  const state = stateOf(ended)
  tenant.observer?.enters(state.call, 'record')
  const now = tenant.now()
  const startedAt = state.startedAt ?? state.call.at
  const durationMs = durationOf(state, tenant.tick())
  const result = toResult(ended, { scope, durationMs })
  const body = encodeResult(result, 'output' in ended ? ended.output?.dataText : undefined)
  const outlived = isHalted(ended) ? ended.outlived : undefined
  const settled = outlived === undefined ? toChanges(ended, { body, wallMs: durationMs }) : undefined
  const changes = withUse(settled, ended)
  const [settlement] = changes?.settle ?? []
  const spent = settlement && state.budget && spentByBudget(state.budget, settlement)
  const ending: Ending = { result, body, startedAt, now, changes, spent }
  return andThen(write(ended, ending, scope), (recorded) => tell(recorded, { ended, ending, scope }))
}

interface Recorded {
  readonly ended: Ended
  readonly ending: Ending
  readonly scope: CallScope
}

/** Tells all who wait for the end of a call, or watch it. */
function tell(recorded: ToolResult, { ended, ending, scope }: Recorded): ToolResult | Promise<ToolResult> {
  const { tenant } = scope
  const { result, body, now, spent } = ending
  const state = stateOf(ended)
  const outlived = isHalted(ended) ? ended.outlived : undefined
  if (outlived !== undefined) void outlived.then(() => endLate(ended, result, scope))
  // Even if its key is not known: a call that starts anew may end before it is read.
  tenant.running.end(state.call.id, state.refused)
  try {
    announce(recorded, scope)
    registerInstructions(recorded, now, scope)
    tenant.observer?.ended(state.call, recorded, toFacts(ended, body, spent))
  } catch (cause) {
    // The call has ended, whatever becomes of telling it.
    tenant.logError({ call: recorded.callId, tool: recorded.tool, cause })
  }
  if (tenant.hooks.after.length === 0 || !isChecked(state)) return recorded
  return observe(state, recorded, scope).then(() => recorded)
}

/**
 * What a call that waits for a person is answered with. It has not ended: the question stands in the evidence, and the call is recorded when it comes
 * back.
 */
export function tellParked({ parked, error, state }: Parked, scope: CallScope): ToolResult {
  const { tenant, session } = scope
  const durationMs = durationOf(state, tenant.tick())
  const halted = halt('approve', state, error)
  const result = toResult(halted, { scope, durationMs })
  tenant.running.end(state.call.id, undefined)
  tenant.observer?.ended(state.call, result, toFacts(halted, '', undefined))
  session.emit({
    type: 'permission_requested',
    level: 'info',
    call: result.callId,
    toolCallId: result.toolCallId,
    tool: result.tool,
    summary: result.error?.message ?? result.summary,
    data: { approval: parked.id },
  })
  return result
}

/** An answer that ended a call is used up with its end; one that let it run was with its begin. */
function withUse(changes: Changes | undefined, ended: Ended): Changes | undefined {
  const use = isHalted(ended) ? ended.use : 'replayed' in ended ? ended.state.use : undefined
  return use === undefined ? changes : { ...changes, facts: [use] }
}

interface Ending {
  result: ToolResult
  /** The result, as evidence keeps it. */
  body: string
  startedAt: number
  now: number
  changes: Changes | undefined
  spent: CallFacts['spent']
}

/** Makes the end durable, with all that changes with it. Returns the result as it is then. */
function write(ended: Ended, ending: Ending, scope: CallScope): ToolResult | Promise<ToolResult> {
  const { result, changes } = ending
  const failed = (error: unknown) => withoutEnd(error, { ended, ending, scope })
  try {
    const writing = scope.tenant.evidence.end(toRecords(ended, ending, scope), result, changes)
    return writing === undefined ? result : writing.then(() => result, failed)
  } catch (error) {
    return failed(error)
  }
}

/** The result of a call whose end the store did not take. */
function withoutEnd(error: unknown, { ended, ending, scope }: Recorded): ToolResult | Promise<ToolResult> {
  const { tenant } = scope
  const { result, changes } = ending
  // The answer that ended it was used by another call that came back with it.
  if (changes?.facts !== undefined && isFactChanged(error)) {
    const { facts: _facts, ...rest } = changes
    return write(ended, { ...ending, changes: rest }, scope)
  }
  // What comes after the store was closed with the runtime is told so, and lost nothing.
  if (scope.session.endings.closed && isWithoutBegin(ended)) return result
  // That a store takes no records is told once, not of each call.
  if (takesRecords(tenant.store)) tenant.logError({ call: result.callId, tool: result.tool, cause: error })
  return toUnrecorded(result, !isWithoutBegin(ended), error)
}

/** Whether the begin of the call is not written yet. */
function isWithoutBegin(ended: Ended): boolean {
  return 'replayed' in ended || (isHalted(ended) && !ended.begun)
}

function toRecords(ended: Ended, { result, body, startedAt, now, spent }: Ending, scope: CallScope): Entry[] {
  const state = stateOf(ended)
  const records: Entry[] = []
  if (isWithoutBegin(ended)) records.push(toBegin(state, { startedAt }, scope))
  const note = toNote(result, scope, now)
  if (note !== undefined) records.push({ record: note, body: null })
  const outlived = isHalted(ended) && ended.outlived !== undefined
  const { bytesIn = 0, answer, reviewed, counterpart } = state
  const approval =
    answer === undefined || reviewed === undefined ? undefined : { ...answer, preview: reviewed }
  const end = toEnd(result, body, { scope, now, bytesIn, outlived, spent, approval, counterpart })
  settleRepeat(state, { result, digest: end.record.result }, scope)
  records.push(end)
  return records
}

function toFacts(ended: Ended, body: string, spent: CallFacts['spent']): CallFacts {
  const state = stateOf(ended)
  return {
    definition: state.registered?.definition,
    decision: state.decision,
    ran: !('replayed' in ended) && state.startedAt !== undefined,
    bytesIn: state.bytesIn ?? 0,
    bytesOut: body.length,
    spent,
  }
}

/** A person who could not be asked is worth a record of its own. */
function toNote(result: ToolResult, { session }: CallScope, at: number): NoteRecord | undefined {
  const reason = result.error?.code === 'POLICY.APPROVAL_DENIED' ? result.error.reason : ''
  if (reason !== 'callback_failed' && reason !== 'callback_timeout') return undefined
  return {
    kind: 'note',
    event: 'permission_failed',
    tenant: session.principal.tenant,
    session: session.id,
    call: result.callId,
    at,
    message: reason,
  }
}

function announce(result: ToolResult, { session }: CallScope): void {
  if (!session.watched()) return
  const about = {
    level: logLevel(result),
    call: result.callId,
    toolCallId: result.toolCallId,
    tool: result.tool,
  }
  const { error } = result
  if (error?.reason === 'callback_failed' || error?.reason === 'callback_timeout') {
    session.emit({ type: 'permission_failed', ...about, summary: error.message })
  }
  session.emit({
    type: toEventName(result),
    ...about,
    summary: result.summary,
    ...toEventData(result),
  })
}

function toEventData({ error, metadata: { hookNotes } }: ToolResult): Pick<RuntimeEvent, 'data'> {
  if (error === undefined && hookNotes === undefined) return {}
  const advice = error?.data?.['advice']
  return {
    data: {
      ...(error !== undefined && { code: error.code, reason: error.reason }),
      ...(typeof advice === 'string' && { advice }),
      ...(hookNotes !== undefined && { hookNotes: [...hookNotes] }),
    },
  }
}

/** What the call read of how to work in the project stays with the session, and watchers are told. */
function registerInstructions(result: ToolResult, at: number, { session }: CallScope): void {
  const block = session.instructions.settle(result, at)
  if (block === undefined || !session.watched()) return
  const { path, scope, digest } = block
  session.emit({
    type: 'instructions_read',
    level: 'info',
    call: result.callId,
    toolCallId: result.toolCallId,
    tool: result.tool,
    summary: `instructions of "${path}"`,
    data: { path, scope, digest },
  })
}

async function observe(state: CheckedInput, result: ToolResult, scope: CallScope): Promise<void> {
  for (const hook of scope.tenant.hooks.after) {
    if (!matchesHook(hook, state.registered.definition)) continue
    try {
      const event = { ...toHookEvent(state, scope), result: copyJson(result) }
      await withinTime(hook.timeoutMs ?? 30_000, async (signal) => hook.after(event, signal))
    } catch (error) {
      scope.tenant.logError({
        call: result.callId,
        tool: result.tool,
        cause: new Error(`PostToolUse hook "${hook.name}" failed`, { cause: error }),
      })
    }
  }
}
