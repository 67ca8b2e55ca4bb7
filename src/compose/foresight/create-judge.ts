import { setImmediate } from 'node:timers/promises'
import type { RecordedCall } from '../../evidence/read-calls.ts'
import { toSessionLike } from '../replay/open-session-like.ts'
import type { Simulation } from '../simulation/create-simulation.ts'
import { findObstacle, operationsOf } from '../simulation/read-recorded.ts'
import type { SimulatedDecision } from '../simulation/to-simulated-decision.ts'

/** What is decided about a recorded call, or why nothing can be said. */
export type JudgedAgain = Extract<SimulatedDecision, { decided: true }> | { readonly obstacle: string }

/** Decides about recorded calls once more. Calls that are alike in all that decides are decided once. */
export type Judge = (call: RecordedCall) => Promise<JudgedAgain>

/** So many decisions are made at a time: a gateway that looks back goes on with its calls. */
const atOnce = 100

/** `readsInput`: whether a rule looks at the input. */
export function createJudge(simulation: Simulation, readsInput: boolean): Judge {
  const known = new Map<string, JudgedAgain>()
  let made = 0
  return async (call) => {
    const { begin, input } = call
    const obstacle = findObstacle(call, { simulation, readsInput })
    if (obstacle !== undefined) return { obstacle }
    const caller = toSessionLike(begin)
    const operations = operationsOf(call, simulation)
    const key = JSON.stringify([caller, begin.tool, operations ?? null, readsInput ? input : null])
    const found = known.get(key)
    if (found !== undefined) return found
    if (++made % atOnce === 0) await setImmediate()
    const decision = await simulation.judgeReach(caller, begin.tool, { operations, input })
    const judged = decision.decided
      ? decision
      : { obstacle: operations === undefined ? unplanned : decision.reason }
    known.set(key, judged)
    return judged
  }
}

const unplanned = 'it was denied before it was planned, so what it would reach is not known'
