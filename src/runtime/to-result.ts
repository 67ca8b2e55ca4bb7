import type { CallError } from '../contract/errors.ts'
import type { Registered } from '../contract/registry.ts'
import type { ResultMetadata, ToolResult } from '../contract/result.ts'
import { callError } from '../kit/call-error.ts'
import { plainSummary } from '../kit/plain-summary.ts'
import { toOutcome } from '../kit/to-outcome.ts'
import type { Road } from './ground.ts'
import { mayRunPrograms } from './may-run-programs.ts'
import { isStopped, stateOf, type Ended, type Output, type Replayed } from './passage.ts'
import { redactError, redactorOf } from './treatments.ts'

interface ResultFacts {
  road: Road
  durationMs: number
}

/** What goes back for a call that ended, whatever happened to it. */
export function toResult(ended: Ended, facts: ResultFacts): ToolResult {
  if ('replayed' in ended) return toReplayedResult(ended, facts)
  const state = stateOf(ended)
  const { call, registered } = state
  const output: Partial<Output> = ended.output ?? {}
  const given = isStopped(ended) ? ended.stopped : ended.output.error
  const error = given && redactError(given, redactorOf(registered, facts.road))
  const tool = registered?.definition.name ?? String(call.tool).slice(0, 200)
  const metadata: ResultMetadata = { session: call.session, durationMs: facts.durationMs, ...output.metadata }
  if (call.rawName !== undefined) metadata.rawName = call.rawName
  if (call.rawId !== undefined) metadata.rawId = call.rawId
  if (state.repairs !== undefined && state.repairs.length > 0) metadata.repairs = state.repairs
  if (ranOnHost(ended, facts.road)) metadata.sandbox = 'host'
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

/** Whether it may have run programs, and nothing isolated them. */
function ranOnHost(ended: Exclude<Ended, Replayed>, { ground }: Road): boolean {
  if (ground.sandbox.kind !== 'host' || (isStopped(ended) && ended.begun !== true)) return false
  return mayRunPrograms(stateOf(ended))
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

/** The result of a call whose end the store did not take. */
export function toUnrecorded(result: ToolResult, ran: boolean): ToolResult {
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
