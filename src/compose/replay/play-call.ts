import type { RecordedCall } from '../../evidence/read-calls.ts'
import { compareCalls, findChangedBodies, findRedefinition, type Difference } from './compare-calls.ts'
import { findLean, findObstacle, type ReplaySoFar } from './find-obstacle.ts'
import type { Replayer } from './open-replayer.ts'

/** What became of a call that was played once more. */
export type PlayedOutcome =
  | { kind: 'same' }
  | { kind: 'skipped'; reason: string }
  | { kind: 'other'; differences: readonly Difference[] }

/** Plays a call once more, if its evidence lets it. */
export async function playCall(
  call: RecordedCall,
  replayer: Replayer,
  before: Omit<ReplaySoFar, 'redefined'>,
): Promise<PlayedOutcome> {
  const { begin } = call
  const changed = findChangedBodies(call)
  if (changed.length > 0) return { kind: 'other', differences: changed }
  const registered = replayer.runtime.registry.view(begin.tenant).find(begin.tool)
  if (registered === undefined && begin.definition !== '')
    return { kind: 'skipped', reason: `there is no tool "${begin.tool}" any more` }
  const reason = findObstacle(call)
  const redefined = findRedefinition(call, registered)
  if (reason !== undefined) {
    return redefined.length > 0 ? { kind: 'other', differences: redefined } : { kind: 'skipped', reason }
  }
  const { mode = 'default' } = begin
  if (mode !== replayer.mode())
    return {
      kind: 'skipped',
      reason: `the session was in mode "${mode}" then, which no call of this run made it`,
    }
  const now = await replayer.play(call)
  const differences = compareCalls({ recorded: call, now: now.call, ran: now.ran, redefined })
  if (differences.length === 0) return { kind: 'same' }
  const lean = findLean(call, now.call, { ...before, redefined: redefined.length > 0 })
  return lean === undefined ? { kind: 'other', differences } : { kind: 'skipped', reason: lean }
}
