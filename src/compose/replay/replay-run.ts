import type { SetupError } from '../../contract/base/errors.ts'
import type { Store } from '../../contract/store.ts'
import { readCalls, type RecordedCall } from '../../evidence/read-calls.ts'
import type { RuntimeOptions } from '../options/runtime-options.ts'
import type { Difference } from './compare-calls.ts'
import { openReplayer, type Replayer } from './open-replayer.ts'
import { playCall } from './play-call.ts'

/** Which run to replay, and on what. */
export interface ReplayRequest {
  /** Where the run was recorded. It is only read. */
  store: Pick<Store, 'records' | 'facts'>
  /** Id of the session. */
  session: string
  /** Default: whichever tenant the session is of. */
  tenant?: string
  /**
   * The options of a runtime as it would be made now: its tools, policy and project decide. Its store, artifacts, archive, signing,
   * approver, hooks, listener and clock are not used.
   */
  runtime: RuntimeOptions
}

/** A call that was not replayed, and why. */
export interface SkippedCall {
  readonly call: string
  readonly tool: string
  readonly reason: string
}

/** The first call of a run that does not go now as it went then. */
export interface Divergence {
  readonly call: string
  readonly tool: string
  /** At least one, in the order of the steps. */
  readonly differences: readonly Difference[]
}

/** What became of a replay. It ends at the first divergence. */
export interface Replay {
  readonly session: string
  /** Calls of the run; 0 if the run does not exist. */
  readonly calls: number
  /** Calls that went as they did then. */
  readonly replayed: number
  readonly skipped: readonly SkippedCall[]
  readonly divergence: Divergence | undefined
  /** Digests of the policies that decided then, in order, and of the one in force now; undefined if no session can be opened now. */
  readonly policies: { readonly recorded: readonly string[]; readonly now: string | undefined }
}

/**
 * Makes all calls of a recorded run once more, in the real pipeline and with the definitions and the policy of now, while the evidence
 * stands in for the world: no tool runs, no person is asked, no hook is told, nothing is written. Finds where the run would go another way.
 * Throws a SetupError if the options make no runtime.
 *
 * @example
 * const replay = await replayRun({ store: runtime.store, session: 'ses_…', runtime: options })
 * if (replay.divergence !== undefined) console.log(replay.divergence.call, replay.divergence.differences)
 */
export async function replayRun(request: ReplayRequest): Promise<Replay> {
  const { store, session, tenant, runtime: options } = request
  const calls = readCalls(store.records({ session, ...(tenant !== undefined && { tenant }) }))
  const [first] = calls
  const about = { session, calls: calls.length }
  const recorded = [...new Set(calls.map(({ begin }) => begin.policy))]
  if (first === undefined) return { ...about, ...nothing, policies: { recorded, now: undefined } }
  const replayer = await openReplayer({ call: first, store, options })
  if ('refused' in replayer) {
    const { call, tool } = first.begin
    const divergence = { call, tool, differences: [refusedSession(first, replayer.refused)] }
    return { ...about, ...nothing, divergence, policies: { recorded, now: undefined } }
  }
  try {
    const played = await playAll(calls, replayer)
    return { ...about, ...played, policies: { recorded, now: replayer.policy() } }
  } finally {
    await replayer.close()
  }
}

const nothing = { replayed: 0, skipped: [], divergence: undefined }

async function playAll(calls: readonly RecordedCall[], replayer: Replayer) {
  const skipped: SkippedCall[] = []
  const done = new Set<string>()
  for (const call of calls) {
    const outcome = await playCall(call, replayer, { done, complete: skipped.length === 0, knowsSet: false })
    const { call: id, tool } = call.begin
    if (outcome.kind === 'other')
      return {
        replayed: done.size,
        skipped,
        divergence: { call: id, tool, differences: outcome.differences },
      }
    if (outcome.kind === 'same') done.add(id)
    else skipped.push({ call: id, tool, reason: outcome.reason })
  }
  return { replayed: done.size, skipped, divergence: undefined }
}

function refusedSession({ begin }: RecordedCall, { message }: SetupError): Difference {
  const { tenant, actor, role, mode = 'default' } = begin
  return { what: 'session', recorded: `${actor} of ${tenant} as ${role} in mode ${mode}`, now: message }
}
