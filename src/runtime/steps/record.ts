import type { CallError } from '../../contract/errors.ts'
import type { EvidenceRecord, NoteRecord } from '../../contract/evidence.ts'
import type { Registered } from '../../contract/registry.ts'
import type { ResultMetadata, ToolResult } from '../../contract/result.ts'
import type { Changes } from '../../contract/store.ts'
import type { CallFacts } from '../../contract/telemetry.ts'
import { callError } from '../../kit/call-error.ts'
import { foldResult } from '../../kit/fold-result.ts'
import { logLevel } from '../../kit/log-level.ts'
import { plainSummary } from '../../kit/plain-summary.ts'
import { toOutcome } from '../../kit/to-outcome.ts'
import {
  isStopped,
  type CheckedInput,
  type CheckedOutput,
  type Output,
  type Replayed,
  type Stopped,
} from '../passage.ts'
import type { Road } from '../ground.ts'
import { withinTime } from '../within-time.ts'
import { spentByBudget, toSettlement } from '../budgets.ts'
import { toBegin } from '../begin-record.ts'
import { toEndRecord, toEventName } from '../end-record.ts'
import { keptKey } from '../keyed-calls.ts'
import { redactError, redactorOf } from '../treatments.ts'
import { matchesHook, toHookEvent } from './hook.ts'

/**
 * Step 10: the end of every call, whatever happened to it: its result, its end record (with its begin where there is none yet) in
 * one transaction, its event, and the hooks that observe it.
 */
export async function record(ended: CheckedOutput | Stopped | Replayed, road: Road): Promise<ToolResult> {
  const { ground } = road
  const state: Stopped['state'] = 'state' in ended ? ended.state : ended
  const now = ground.now()
  const startedAt = state.startedAt ?? state.call.at
  const result = toResult(ended, { road, durationMs: Math.max(0, now - startedAt) })
  const body = foldResult(result)
  const records: { record: EvidenceRecord; body: string | null }[] = []
  if ('replayed' in ended || (isStopped(ended) && !ended.begun)) {
    records.push(toBegin(state, startedAt, road))
  }
  const note = toNote(result, road, now)
  if (note !== undefined) records.push({ record: note, body: null })
  const changes = toChanges(ended, { body, wallMs: now - startedAt }, road)
  const outlived = isStopped(ended) ? ended.outlived : undefined
  const [settlement] = outlived === undefined ? (changes?.settle ?? []) : []
  const spent = settlement && state.budget && spentByBudget(state.budget, settlement)
  const facts = { road, now, bytesIn: state.bytesIn ?? 0, spent }
  records.push({ record: toEndRecord(result, body, facts), body })
  let recorded = result
  try {
    await ground.evidence.end(records, result, outlived === undefined ? changes : undefined)
  } catch (error) {
    ground.logFault({ call: result.callId, tool: result.tool, cause: error })
    recorded = unrecorded(result, !('replayed' in ended) && !(isStopped(ended) && !ended.begun))
  }
  if (outlived !== undefined) void outlived.then(() => settleLate(ended, state, road))
  ground.running.end(state.call.id)
  announce(recorded, road)
  ground.observer?.ended(state.call, recorded, toFacts(ended, state, body.length))
  if (ground.hooks.after.length > 0 && state.registered !== undefined && state.input !== undefined) {
    await observe(state as CheckedInput, recorded, road)
  }
  return recorded
}

/** A tool that outlived its answer holds its budgets until it has ended, and pays for all of its time. */
async function settleLate(
  ended: CheckedOutput | Stopped | Replayed,
  state: Stopped['state'],
  road: Road,
): Promise<void> {
  const { ground } = road
  const wallMs = ground.now() - (state.startedAt ?? state.call.at)
  const changes = toChanges(ended, { body: '', wallMs }, road)
  if (changes === undefined) return
  try {
    await ground.store.append([], changes)
  } catch (cause) {
    ground.logFault({ call: state.call.id, tool: String(state.call.tool), cause })
  }
}

function toFacts(
  ended: CheckedOutput | Stopped | Replayed,
  state: Stopped['state'],
  bytesOut: number,
): CallFacts {
  return {
    definition: state.registered?.definition,
    decision: state.decision,
    ran: !('replayed' in ended) && state.startedAt !== undefined,
    bytesIn: state.bytesIn ?? 0,
    bytesOut,
  }
}

/** What the store changes with the end of a call: its budgets are settled, its key keeps a denial. */
function toChanges(
  ended: CheckedOutput | Stopped | Replayed,
  about: { body: string; wallMs: number },
  road: Road,
): Changes | undefined {
  if ('replayed' in ended) return undefined
  if (isStopped(ended) && !ended.begun) {
    const kept = keptKey(ended.state, ended.stopped, road)
    return kept && { keep: [kept] }
  }
  const state: Stopped['state'] = isStopped(ended) ? ended.state : ended
  const { budget, registered, call } = state
  if (budget === undefined || registered === undefined) return undefined
  const spending = {
    bytesIn: state.bytesIn ?? 0,
    bytesOut: about.body.length,
    wallMs: Math.max(0, about.wallMs),
  }
  return { settle: [toSettlement(budget, { id: call.id, definition: registered.definition }, spending)] }
}

interface ResultFacts {
  road: Road
  durationMs: number
}

function toResult(ended: CheckedOutput | Stopped | Replayed, facts: ResultFacts): ToolResult {
  if ('replayed' in ended) return toReplayedResult(ended, facts)
  const state: Stopped['state'] = isStopped(ended) ? ended.state : ended
  const { call, registered } = state
  const output: Partial<Output> = ended.output ?? {}
  const given = isStopped(ended) ? ended.stopped : ended.output.error
  const error = given && redactError(given, redactorOf(registered, facts.road))
  const tool = registered?.definition.name ?? String(call.tool).slice(0, 200)
  const metadata: ResultMetadata = { session: call.session, durationMs: facts.durationMs, ...output.metadata }
  if (call.rawName !== undefined) metadata.rawName = call.rawName
  if (call.rawId !== undefined) metadata.rawId = call.rawId
  if (state.repairs !== undefined && state.repairs.length > 0) metadata.repairs = state.repairs
  const advice = registered && adviceOn(registered, facts.road)
  if (advice !== undefined) metadata.deprecated = advice
  const outcome = toOutcome(error)
  if (outcome === 'aborted') {
    metadata.aborted = true
    metadata.abortReason ??= error?.reason ?? ''
  }
  const result: ToolResult = {
    callId: call.id,
    toolCallId: call.toolCallId,
    tool,
    ok: error === undefined,
    outcome,
    content: output.content ?? [],
    summary: summarise(tool, output.summary, error),
    artifacts: output.artifacts ?? [],
    metadata,
  }
  if (output.data !== undefined) result.data = output.data
  if (error !== undefined) {
    result.error = error
    result.content = [{ type: 'text', text: describeError(error) }, ...result.content]
  }
  return result
}

/** What to use instead of a deprecated tool. */
function adviceOn(registered: Registered, { session }: Road): string | undefined {
  return session.standing(registered).advice ?? registered.definition.deprecations[0]?.advice
}

/** A kept result goes back under the ids of the call that asked again. */
function toReplayedResult({ replayed, state }: Replayed, { durationMs }: ResultFacts): ToolResult {
  return {
    ...replayed,
    callId: state.call.id,
    toolCallId: state.call.toolCallId,
    metadata: { ...replayed.metadata, session: state.call.session, durationMs, replayed: true },
  }
}

/** What the model reads: the code and reason first, so that a message never passes for a success. */
function describeError(error: CallError): string {
  return `${error.code} (${error.reason}): ${error.message}`
}

function summarise(tool: string, summary: string | undefined, error: CallError | undefined): string {
  return error !== undefined || summary === undefined || summary === '' ? plainSummary(tool, error) : summary
}

/** A person who could not be asked is worth a record of its own. */
function toNote(result: ToolResult, { session }: Road, at: number): NoteRecord | undefined {
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

function unrecorded(result: ToolResult, ran: boolean): ToolResult {
  const error = callError('PROVIDER.UNAVAILABLE', 'store_failed', {
    message: `"${result.tool}" ${ran ? 'may have run, but its end' : 'did not run, and that'} could not be recorded: the store does not take records. Look at the disk of the store.`,
  })
  return {
    ...result,
    ok: false,
    outcome: ran ? 'unknown' : 'failed',
    error,
    summary: `${result.tool}: store_failed`,
    content: [{ type: 'text', text: describeError(error) }, ...result.content],
  }
}

function announce(result: ToolResult, { session }: Road): void {
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
    ...(error !== undefined && { data: { code: error.code, reason: error.reason } }),
  })
}

async function observe(state: CheckedInput, result: ToolResult, road: Road): Promise<void> {
  for (const hook of road.ground.hooks.after) {
    if (!matchesHook(hook, state.registered.definition)) continue
    try {
      const event = { ...toHookEvent(state, road), result: structuredClone(result) }
      await withinTime(hook.timeoutMs ?? 30_000, async (signal) => hook.after(event, signal))
    } catch (error) {
      road.ground.logFault({
        call: result.callId,
        tool: result.tool,
        cause: new Error(`PostToolUse hook "${hook.name}" failed`, { cause: error }),
      })
    }
  }
}
