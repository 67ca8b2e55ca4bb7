import type { BeginRecord } from '../../contract/evidence.ts'
import type { Effect } from '../../contract/policy.ts'
import type { RecordedCall } from '../../evidence/read-calls.ts'
import { toSessionLike } from '../replay/open-session-like.ts'
import type { Simulation } from './create-simulation.ts'
import { findObstacle, operationsOf } from './read-recorded.ts'
import type { SimulatedDecision } from './to-simulated-decision.ts'

/** What decided about a call. */
export interface Decided {
  effect: Effect
  layer: string
  rule: string
}

/** A call that the second policy would have decided in another way. */
export interface ShadowDifference {
  call: string
  tenant: string
  actor: string
  session: string
  tool: string
  /** Milliseconds since the epoch. */
  at: number
  before: Decided
  now: Decided & { reason: string }
}

/** What a second policy would have said of recorded calls. */
export interface ShadowReport {
  judged: number
  /** Oldest first. */
  different: readonly ShadowDifference[]
  /** Calls of which nothing can be said, by reason. */
  unjudged: readonly { reason: string; calls: readonly string[] }[]
  /** Judged calls whose tool is defined in another way than it was. */
  redefined: number
}

/** The simulated policy, and the one in force, which tells calls of other projects. */
export interface ShadowSimulations {
  second: Simulation
  present: Simulation
  /** Whether a rule of the simulated policy looks at the input. */
  readsInput: boolean
}

/** A second policy beside the one that decides. Show it one call at a time. */
export interface Shadow {
  /** How it would have decided otherwise; undefined if it would not, or nothing can be said. */
  judge(call: RecordedCall): Promise<ShadowDifference | undefined>
  /** What it said of all calls so far. */
  report(): ShadowReport
}

/** Decides about recorded calls once more, under another policy. Says of every call what came out, or why nothing could. */
export function createShadow(simulations: ShadowSimulations): Shadow {
  const different: ShadowDifference[] = []
  const unjudged = new Map<string, string[]>()
  let judged = 0
  let redefined = 0
  return {
    async judge(call) {
      const { begin } = call
      const found = await judge(call, simulations)
      if ('obstacle' in found) {
        const known = unjudged.get(found.obstacle)
        if (known === undefined) unjudged.set(found.obstacle, [begin.call])
        else known.push(begin.call)
        return undefined
      }
      judged++
      if (isRedefined(begin, simulations.second)) redefined++
      if (isSame(found.before, found.now)) return undefined
      const difference = toDifference(begin, found)
      different.push(difference)
      return difference
    },
    report: () => ({
      judged,
      different: different.toSorted((left, right) => left.at - right.at),
      unjudged: [...unjudged].map(([reason, calls]) => ({ reason, calls })),
      redefined,
    }),
  }
}

type DecidedSimulation = SimulatedDecision & { decided: true }
type Judged = { before: Decided; now: DecidedSimulation }

function toDifference(
  { call, tenant, actor, session, tool, at }: BeginRecord,
  { before, now: { effect, layer, rule, reason } }: Judged,
): ShadowDifference {
  return { call, tenant, actor, session, tool, at, before, now: { effect, layer, rule, reason } }
}

async function judge(
  call: RecordedCall,
  simulations: ShadowSimulations,
): Promise<Judged | { obstacle: string }> {
  const { second, present, readsInput } = simulations
  const { begin, input } = call
  const before = begin.decision
  const obstacle = findObstacle(call, { simulation: second, readsInput })
  if (before === undefined || obstacle !== undefined)
    return { obstacle: obstacle ?? 'it ended before anything was decided' }
  const operations = operationsOf(call, second)
  const caller = toSessionLike(begin)
  const now = await second.judgeReach(caller, begin.tool, { operations, input })
  if (!now.decided) {
    const unplanned = 'it was denied before it was planned, so what it would reach is not known'
    return { obstacle: operations === undefined ? unplanned : now.reason }
  }
  if (now.layer === 'bounds' && before.layer !== 'bounds') {
    const here = await present.judgeReach(caller, begin.tool, { operations, input })
    if (here.decided && here.layer === 'bounds')
      return { obstacle: 'it reached what lies outside of this project, so it was made in another one' }
  }
  return { before, now }
}

/** A yes for the session and a standing consent answer now what they answered then. */
function isSame(before: Decided, now: DecidedSimulation): boolean {
  const answered = before.layer === 'session-approval' || before.layer === 'consent'
  if (answered && now.effect === 'ask' && now.keepable) return true
  return before.effect === now.effect
}

function isRedefined(begin: BeginRecord, simulation: Simulation): boolean {
  const now = simulation.find(begin.tool, begin.tenant)
  return now !== undefined && begin.definition !== `${now.definition.version} ${now.digest}`
}
