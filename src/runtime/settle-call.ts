import type { Changes } from '../contract/store.ts'
import { toSettlement } from './budgets.ts'
import type { Road } from './ground.ts'
import { keptKey } from './keyed-calls.ts'
import { isStopped, stateOf, type Ended } from './passage.ts'

/** What the store changes with the end of a call: its budgets are settled, its key keeps a denial. */
export function toChanges(
  ended: Ended,
  about: { body: string; wallMs: number },
  road: Road,
): Changes | undefined {
  if ('replayed' in ended) return undefined
  if (isStopped(ended) && !ended.begun) {
    const kept = keptKey(ended.state, ended.stopped, road)
    return kept && { keep: [kept] }
  }
  const state = stateOf(ended)
  const { budget, registered, call } = state
  if (budget === undefined || registered === undefined) return undefined
  const spending = {
    bytesIn: state.bytesIn ?? 0,
    bytesOut: about.body.length,
    wallMs: Math.max(0, about.wallMs),
  }
  return { settle: [toSettlement(budget, { id: call.id, definition: registered.definition }, spending)] }
}

/** A tool that outlived its answer holds its budgets until it has ended, and pays for all of its time. */
export async function settleLate(ended: Ended, road: Road): Promise<void> {
  const { ground } = road
  const state = stateOf(ended)
  const wallMs = ground.now() - (state.startedAt ?? state.call.at)
  const changes = toChanges(ended, { body: '', wallMs }, road)
  if (changes === undefined) return
  try {
    await ground.store.append([], changes)
  } catch (cause) {
    ground.logFault({ call: state.call.id, tool: String(state.call.tool), cause })
  }
}
