import type { RecordedCall } from '../../evidence/read-calls.ts'

/** Why the decision about a call cannot be made once more from its evidence; undefined if it can. */
export function findDecisionObstacle(call: RecordedCall): string | undefined {
  const { begin, end, input, inputText } = call
  const code = end?.code
  if (begin.definition === '')
    return code === 'POLICY.DENY_TOOL' ? undefined : `it never got to a tool (${end?.reason ?? 'no end'})`
  if (begin.worktree !== undefined)
    return `its agent was held to the worktree ${begin.worktree}, and what holds there is not opened again`
  if (code === 'UNKNOWN.INTERNAL') return 'Handrail itself failed on it'
  if (begin.input === '')
    return 'its input or its key did not fit the tool, and what does not fit is not kept'
  if (inputText === undefined) return 'its body was pruned'
  if (input === undefined) return 'its input is not JSON any more without its secrets'
  if (dependsOnBudgets(call))
    return `it was refused for what was left of a budget or a rate (${end?.reason ?? ''}), and other calls spend those too`
  return undefined
}

/** Why a call cannot be replayed from its evidence to its end; undefined if it can. */
export function findObstacle(call: RecordedCall): string | undefined {
  const { begin, end, result } = call
  if (begin.partOf !== undefined)
    return `it is a part of the call ${begin.partOf.call}, whose result has what it returned`
  if (end === undefined) return 'it has not ended'
  if (end.outcome === 'unknown') return `its outcome is not known (${end.reason ?? ''})`
  if (end.reason === 'store_failed' || end.reason === 'store_read_only') return 'the store took no records'
  return findDecisionObstacle(call) ?? (result === undefined ? 'its body was pruned' : undefined)
}

/** Counts of the session itself are counted anew with its calls; what a budget had left is not in the evidence of one run. */
function dependsOnBudgets({ end, result }: RecordedCall): boolean {
  return end?.code === 'QUOTA.RATE_LIMITED' || result?.error?.data?.['budget'] !== undefined
}

/**
 * Whether a session itself left the tool out, by its lists or the model that it named. It may have: without its body nothing tells such a
 * call from one of an unknown tool.
 */
export function leftOutOfSet({ end, result }: Pick<RecordedCall, 'end' | 'result'>): boolean {
  if (end?.reason === 'model_denied') return true
  return end?.reason === 'tool_not_available' && result?.error?.data?.['because'] !== 'unknown'
}

/** What is known of a replay when one of its calls goes another way. */
export interface ReplaySoFar {
  /** Calls that went as they did. */
  readonly done: ReadonlySet<string>
  /** Whether no call was skipped. */
  readonly complete: boolean
  /** Whether the session is known to have the tools that it had. */
  readonly knowsSet: boolean
  readonly redefined: boolean
}

/** What a call took from where the evidence does not reach, so that it goes another way now; undefined if nothing. */
export function findLean(
  { begin, end, result }: RecordedCall,
  now: RecordedCall,
  { done, complete, knowsSet, redefined }: ReplaySoFar,
): string | undefined {
  if (begin.decision?.layer === 'session-approval' && !done.has(begin.consent ?? ''))
    return `it leaned on the yes for the session that was given to the call ${begin.consent ?? ''}, which is not replayed`
  if (result?.metadata.replayed === true || end?.code?.startsWith('IDEMPOTENCY.') === true)
    return 'it was answered for an earlier call with the same key, which is not part of this replay'
  if (end?.code?.startsWith('QUOTA.') === true && !complete)
    return 'it was refused for the number of calls before it, and not all of them are replayed'
  if (!knowsSet && leftOutOfSet({ end, result }))
    return 'its tool was not in the set of its session, and what a session leaves out is not in the evidence'
  if (!redefined && now.end?.reason === 'invalid_input')
    return 'its input does not fit the tool without what is hidden of it in the evidence'
  if (!redefined && result?.metadata.withheld !== undefined && now.end?.reason === 'invalid_output')
    return 'its result does not fit the tool without what was withheld of it'
  return undefined
}
