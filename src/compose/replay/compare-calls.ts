import type { BeginRecord, EndRecord } from '../../contract/evidence.ts'
import type { Registered } from '../../contract/registry.ts'
import type { ToolResult } from '../../contract/base/result.ts'
import type { Preflight } from '../../contract/runtime.ts'
import type { RecordedCall } from '../../evidence/read-calls.ts'
import { ownContent } from '../../evidence/to-recorded-output.ts'
import { canonicalJson } from '../../kit/json/canonical-json.ts'

/** One thing that is not now as it was recorded. Both sides are for people. */
export interface Difference {
  readonly what:
    | 'session'
    | 'definition'
    | 'input'
    | 'operations'
    | 'decision'
    | 'profile'
    | 'outcome'
    | 'result'
    // Of a run of an agent: its conversation, what its model is told beside that, and what comes next.
    | 'conversation'
    | 'agent'
    | 'model'
    | 'system'
    | 'instructions'
    | 'output'
    | 'tools'
    | 'next'
  readonly recorded: string
  readonly now: string
}

/** Bodies that are not the ones whose digest their record has. */
export function findChangedBodies({ begin, end, changed }: RecordedCall): Difference[] {
  const digests = { input: begin.input, operations: begin.plan ?? 'none', result: end?.result ?? 'none' }
  return changed.map((part) => ({
    what: part,
    recorded: `the digest ${digests[part]}`,
    now: 'the evidence holds something else',
  }))
}

/** A call that was played once more. */
export interface PlayedCall {
  readonly recorded: RecordedCall
  readonly now: RecordedCall
  /** How its tool is defined in another way now. */
  readonly redefined: readonly Difference[]
  /** Whether its tool was run. */
  readonly ran: boolean
}

/** What differs between a call as it was recorded and as it was played, in the order of the steps. */
export function compareCalls({ recorded, now, redefined, ran }: PlayedCall): Difference[] {
  // Of a call that found no tool, nothing else is known.
  if (recorded.begin.definition === '' && redefined.length > 0) return [...redefined]
  const outcome = compareOutcomes(recorded.end, now.end)
  if (recorded.begin.definition === '' || now.begin.definition === '') return [...redefined, ...outcome]
  const [before, after] = [recorded.begin, now.begin]
  const differences = [
    ...redefined,
    ...compare('input', before.input, describeInput(now)),
    ...compare('decision', describeDecision(before.decision), describeDecision(after.decision)),
    // A call that ended early has none.
    ...(before.profile === undefined || after.profile === undefined
      ? []
      : compare('profile', before.profile, after.profile)),
    ...outcome,
  ]
  return differences.length > 0 || !ran ? differences : compareResults(recorded, now)
}

/**
 * What differs between a call as it was recorded and what would be decided about it now, in the order of the steps. `input` is what an
 * input that is still the same has for its digest now.
 */
export function compareDecisions({ begin, end }: RecordedCall, now: Preflight, input: string): Difference[] {
  // What became of a call that ran was not decided before it.
  const stopped =
    now.error === undefined ? [] : compare('outcome', describeCode(end), describeCode(now.error))
  if (begin.definition === '' || now.inputDigest === undefined) return stopped
  return [
    ...compare('input', input, now.inputDigest),
    ...compare('decision', describeDecision(begin.decision), describeDecision(now.decision)),
    ...(begin.profile === undefined || now.profileHash === undefined
      ? []
      : compare('profile', begin.profile, now.profileHash)),
    ...stopped,
  ]
}

/** What differs where a call found no tool that it could use, and would find one now. */
export function compareFinds({ end }: RecordedCall): Difference[] {
  return compare('outcome', describeCode(end), 'its tool can be used')
}

/** Whether the tool of a call is defined in another way now. A call that found its tool and could not use it says nothing of that. */
export function findRedefinition({ begin, result }: RecordedCall, now: Registered | undefined): Difference[] {
  if (now === undefined) return []
  const wasUnknown = result?.error?.data?.['because'] === 'unknown'
  if (begin.definition === '' && !wasUnknown) return []
  const recorded = begin.definition === '' ? 'no such tool' : begin.definition
  return compare('definition', recorded, `${now.definition.version} ${now.digest}`)
}

/** Where the call reached no decision, what ended it says why. */
export function describeDecision(decision: BeginRecord['decision']): string {
  return decision === undefined ? 'none' : `${decision.effect} by ${decision.layer}/${decision.rule}`
}

function describeInput({ begin, result }: RecordedCall): string {
  if (begin.input !== '' || begin.definition === '') return begin.input
  return `does not fit: ${result?.error?.message ?? ''}`
}

function compare(what: Difference['what'], recorded: string, now: string): Difference[] {
  return recorded === now ? [] : [{ what, recorded, now }]
}

/** From where a call was aborted, and why no person said yes, does not come from the call. */
function compareOutcomes(recorded: EndRecord | undefined, now: EndRecord | undefined): Difference[] {
  const toKey = (end: EndRecord | undefined) => {
    if (end?.code === 'TOOL.ABORTED') return end.code
    return end?.code === 'POLICY.APPROVAL_DENIED' && end.reason !== 'approval_stale'
      ? end.code
      : describeOutcome(end)
  }
  return toKey(recorded) === toKey(now)
    ? []
    : [{ what: 'outcome', recorded: describeOutcome(recorded), now: describeOutcome(now) }]
}

function describeOutcome(end: EndRecord | undefined): string {
  if (end?.code === undefined) return end?.outcome ?? 'none'
  return end.reason === 'not_recorded' ? 'would run' : `${end.outcome} ${end.code} (${end.reason ?? ''})`
}

function describeCode(failed: Pick<EndRecord, 'code' | 'reason'> | undefined): string {
  return failed?.code === undefined ? 'no error' : `${failed.code} (${failed.reason ?? ''})`
}

function compareResults(recorded: RecordedCall, now: RecordedCall): Difference[] {
  if (recorded.end?.result === now.end?.result) return []
  const before = partsOf(recorded.result)
  const after = partsOf(now.result)
  const parts = Object.keys(before).filter((part) => before[part] !== after[part])
  if (parts.length === 0) return []
  const named = parts.join(', ')
  return [
    {
      what: 'result',
      recorded: `${recorded.end?.result ?? ''}`,
      now: `${now.end?.result ?? ''}, other ${named}`,
    },
  ]
}

/** What the tool gave; the rest of a result is about how its call came in, how it was aborted, and what the pipeline added. */
function partsOf(result: ToolResult | undefined): Readonly<Record<string, string>> {
  if (result === undefined) return {}
  const { data, summary, artifacts, error, metadata } = result
  const said = error && [error.code, error.reason, error.message, error.data ?? null]
  return {
    data: canonicalJson(data),
    content: canonicalJson(ownContent(result)),
    summary,
    artifacts: canonicalJson(artifacts),
    error: canonicalJson(said),
    metadata: canonicalJson(metadata.tool),
  }
}
