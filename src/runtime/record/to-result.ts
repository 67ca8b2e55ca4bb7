import type { CallError } from '../../contract/base/errors.ts'
import type { Registered } from '../../contract/registry.ts'
import type { ResultMetadata, ToolResult } from '../../contract/base/result.ts'
import { callError } from '../../kit/result/call-error.ts'
import { showControlsInLine } from '../../kit/text/show-controls.ts'
import { plainSummary } from '../../kit/result/plain-summary.ts'
import { toOutcome } from '../../kit/result/to-outcome.ts'
import { boundError } from './bound-error.ts'
import type { CallScope } from '../state/scope.ts'
import { mayRunPrograms } from '../state/may-run-programs.ts'
import {
  isHalted,
  stateOf,
  type Ended,
  type Output,
  type Replayed,
  type Halted,
} from '../state/call-state.ts'
import { toCallError } from '../state/to-call-error.ts'
import { redactError, redactorOf, showError } from './treatments.ts'

interface ResultFacts {
  scope: CallScope
  durationMs: number
}

/** What goes back for a call that ended, whatever happened to it. */
export function toResult(ended: Ended, facts: ResultFacts): ToolResult {
  if ('replayed' in ended) return toReplayedResult(ended, facts)
  const state = stateOf(ended)
  const { call, registered } = state
  const output: Partial<Output> = ended.output ?? {}
  const given = isHalted(ended) ? ended.halted : ended.output.error
  const error = given && toGivenError(given, state, facts.scope)
  const tool = registered?.definition.name ?? String(call.tool).slice(0, 200)
  const metadata: ResultMetadata = { session: call.session, durationMs: facts.durationMs, ...output.metadata }
  tellOfCall(state, metadata, facts.scope)
  if (ranOnHost(ended, facts.scope)) metadata.sandbox = 'host'
  const outcome = toOutcome(error)
  if (outcome === 'aborted') {
    metadata.aborted = true
    metadata.partial ??= false
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

/** What holds of this very call, and of no other that gets its result. */
function tellOfCall(
  { call, registered, repairs = [], answer, hookNotes = [] }: Halted['state'],
  metadata: ResultMetadata,
  scope: CallScope,
): void {
  if (call.rawName !== undefined) metadata.rawName = call.rawName
  if (call.rawId !== undefined) metadata.rawId = call.rawId
  if (repairs.length > 0) metadata.repairs = repairs
  if (answer !== undefined) metadata.approval = answer
  if (hookNotes.length > 0) metadata.hookNotes = redactorOf(registered, scope).json(hookNotes)
  const advice = registered && adviceOn(registered, scope)
  if (advice !== undefined) metadata.deprecated = advice
}

function toGivenError(error: CallError, { registered }: Halted['state'], scope: CallScope): CallError {
  const { tenant } = scope
  return boundError(
    showError(redactError(error, redactorOf(registered, scope)), tenant),
    tenant.limits.inlineBytes,
  )
}

/** Whether it may have run programs, and nothing isolated them. */
function ranOnHost(ended: Exclude<Ended, Replayed>, { tenant }: CallScope): boolean {
  if (tenant.sandbox.kind !== 'host' || (isHalted(ended) && ended.begun !== true)) return false
  return mayRunPrograms(stateOf(ended))
}

/** What to use instead of a deprecated tool. */
function adviceOn(registered: Registered, { session }: CallScope): string | undefined {
  const { advice } = session.status(registered)
  if (advice !== undefined) return advice
  const { deprecations } = registered.definition
  if (deprecations.length < 2) return deprecations[0]?.advice
  return deprecations.map((each) => `${each.what} since ${each.since}: ${each.advice}`).join(' ')
}

/** A kept result goes back under the ids of the call that asked again, with what is said of that one. */
function toReplayedResult({ replayed, state }: Replayed, { scope, durationMs }: ResultFacts): ToolResult {
  const {
    rawName: _rawName,
    rawId: _rawId,
    repairs: _repairs,
    approval: _approval,
    hookNotes: _hookNotes,
    deprecated: _deprecated,
    ...kept
  } = replayed.metadata
  const { id: callId, toolCallId, session } = state.call
  const metadata: ResultMetadata = { ...kept, session, durationMs, replayed: true }
  tellOfCall(state, metadata, scope)
  return { ...replayed, callId, toolCallId, metadata }
}

/** What the model reads: the code and reason first, so that a message never passes for a success. */
function describeError(error: CallError): string {
  return `${error.code} (${error.reason}): ${error.message}`
}

function summarise(tool: string, summary: string | undefined, error: CallError | undefined): string {
  return error !== undefined || summary === undefined || summary === ''
    ? plainSummary(tool, error)
    : showControlsInLine(summary)
}

/** The result of a call whose end the store did not take, with what the store says of it. */
export function toUnrecorded(result: ToolResult, ran: boolean, cause: unknown): ToolResult {
  const why = toCallError(cause, result.tool)
  const reason = why.code === 'PROVIDER.UNAVAILABLE' ? why.reason : 'store_failed'
  const error = callError('PROVIDER.UNAVAILABLE', reason, {
    message: `"${result.tool}" ${ran ? 'may have run, but its end is not recorded yet: it will be as soon as the store takes records' : 'did not run, and that could not be recorded'}. ${why.message}`,
  })
  return {
    ...result,
    ok: false,
    outcome: ran ? 'unknown' : 'failed',
    error,
    summary: `${result.tool}: ${reason}`,
    content: [{ type: 'text', text: describeError(error) }, ...result.content],
  }
}
