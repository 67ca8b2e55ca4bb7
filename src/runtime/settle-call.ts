import type { Call } from '../contract/call.ts'
import type { Changes, KeyResolution } from '../contract/store.ts'
import { settleUnspent, toSettlement } from './budgets.ts'
import type { Road } from './ground.ts'
import { isStopped, stateOf, type Ended, type Stopped } from './passage.ts'

/** What the store changes with the end of a call: its budgets are settled, and its key is free again when nothing ran. */
export function toChanges(
  ended: Ended,
  about: { body: string; wallMs: number; outlived?: boolean },
): Changes | undefined {
  if ('replayed' in ended || (isStopped(ended) && !ended.begun)) return undefined
  const state = stateOf(ended)
  const { budget, registered, call, key } = state
  const resolve =
    isStopped(ended) && ended.idle === true && key !== undefined ? [notHappened(call)] : undefined
  if (budget === undefined || registered === undefined) return resolve && { resolve }
  if (isStopped(ended) && ended.idle === true) {
    const settle = [settleUnspent(budget, call.id)]
    return resolve === undefined ? { settle } : { settle, resolve }
  }
  const spending = {
    bytesIn: state.bytesIn ?? 0,
    bytesOut: about.body.length,
    wallMs: about.wallMs,
    outlived: about.outlived ?? false,
  }
  return { settle: [toSettlement(budget, { id: call.id, definition: registered.definition }, spending)] }
}

function notHappened({ id, principal }: Call): KeyResolution {
  return { tenant: principal.tenant, call: id, outcome: 'not_happened', result: '' }
}

/** A tool that outlived its answer holds its budgets until it has ended, and pays for all of its time. */
export async function settleLate(ended: Ended, road: Road): Promise<void> {
  const { ground } = road
  const state = stateOf(ended)
  const wallMs = durationOf(state, ground.tick())
  const changes = toChanges(ended, { body: '', wallMs, outlived: true })
  if (changes === undefined) return
  try {
    await ground.evidence.settle(changes)
  } catch (cause) {
    ground.logFault({ call: state.call.id, tool: String(state.call.tool), cause })
  }
}

/**
 * How long a call took until this tick: its run, or, where it did not come to that, the way from when it was taken up. What people took to answer
 * is not counted, whatever they said.
 */
export function durationOf({ tick, startTick, waitedMs }: Stopped['state'], now: number): number {
  return Math.max(0, Math.round(now - (startTick ?? tick) - waitedMs))
}
