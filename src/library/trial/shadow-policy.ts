import type { BeginRecord } from '../../contract/evidence.ts'
import type { Operation } from '../../contract/plan.ts'
import type { Effect } from '../../contract/policy.ts'
import type { RecordedCall } from '../../evidence/read-calls.ts'
import type { Trial } from './create-trial.ts'
import type { Ruling } from './to-ruling.ts'

/** What decided about a call. */
export interface Decided {
  effect: Effect
  layer: string
  rule: string
}

/** A call that the second policy would have decided in another way. */
export interface ShadowDifference {
  call: string
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
  different: readonly ShadowDifference[]
  /** Calls of which nothing can be said, by reason. */
  unjudged: readonly { reason: string; calls: readonly string[] }[]
  /** Judged calls whose tool is defined in another way than it was. */
  redefined: number
}

/** The policy on trial, and the one in force, which tells calls of other projects. */
export interface ShadowTrials {
  second: Trial
  present: Trial
}

/** Decides about recorded calls once more, under another policy. Says of every call what came out, or why nothing could. */
export async function shadowPolicy(
  calls: Iterable<RecordedCall>,
  trials: ShadowTrials,
): Promise<ShadowReport> {
  const different: ShadowDifference[] = []
  const unjudged = new Map<string, string[]>()
  let judged = 0
  let redefined = 0
  for (const call of calls) {
    const { begin } = call
    const found = await judge(call, trials)
    if ('obstacle' in found) {
      unjudged.set(found.obstacle, [...(unjudged.get(found.obstacle) ?? []), begin.call])
      continue
    }
    judged++
    if (isRedefined(begin, trials.second)) redefined++
    if (isSame(found.before, found.now)) continue
    const { effect, layer, rule, reason } = found.now
    different.push({
      call: begin.call,
      session: begin.session,
      tool: begin.tool,
      at: begin.at,
      before: found.before,
      now: { effect, layer, rule, reason },
    })
  }
  return {
    judged,
    different,
    unjudged: [...unjudged].map(([reason, ids]) => ({ reason, calls: ids })),
    redefined,
  }
}

type DecidedRuling = Ruling & { decided: true }
type Judged = { obstacle: string } | { before: Decided; now: DecidedRuling }

async function judge(call: RecordedCall, { second, present }: ShadowTrials): Promise<Judged> {
  const { begin } = call
  const before = begin.decision
  const obstacle = findObstacle(call, second)
  if (before === undefined || obstacle !== undefined)
    return { obstacle: obstacle ?? 'it ended before anything was decided' }
  const operations = operationsOf(call, second)
  const caller = { tenant: begin.tenant, actor: begin.actor, role: begin.role, mode: begin.mode ?? 'default' }
  const now = await second.judgeOperations(caller, begin.tool, operations)
  if (!now.decided) {
    const unplanned = 'it was denied before it was planned, so nobody knows what it would reach'
    return { obstacle: operations === undefined ? unplanned : now.reason }
  }
  if (now.layer === 'bounds' && before.layer !== 'bounds') {
    const here = await present.judgeOperations(caller, begin.tool, operations)
    if (here.decided && here.layer === 'bounds')
      return { obstacle: 'it reached what lies outside of this project, so it was made in another one' }
  }
  return { before, now }
}

/** Why a call cannot be judged from its evidence. */
function findObstacle(call: RecordedCall, trial: Trial): string | undefined {
  const { begin, inputText, changed } = call
  if (begin.decision === undefined) return 'it ended before anything was decided'
  if (begin.decision.layer === 'decision-point') return 'a decision point outside of the policy decided'
  if (trial.find(begin.tool) === undefined) return `its tool "${begin.tool}" is not here`
  if (begin.plan === undefined) return undefined
  if (inputText === undefined) return 'its plan was pruned'
  return changed.includes('operations') ? 'its plan is not the one whose digest its record has' : undefined
}

/** Undefined for a call that was denied before its tool could plan it. */
function operationsOf({ begin, operations }: RecordedCall, trial: Trial): readonly Operation[] | undefined {
  const neverPlanned = begin.decision?.effect === 'deny' && begin.plan === undefined
  return neverPlanned && trial.find(begin.tool)?.tool.plan !== undefined ? undefined : operations
}

/** A yes for the session and a standing consent answer now what they answered then. */
function isSame(before: Decided, now: DecidedRuling): boolean {
  const answered = before.layer === 'grant' || before.layer === 'consent'
  if (answered && now.effect === 'ask' && now.keepable) return true
  return before.effect === now.effect
}

function isRedefined(begin: BeginRecord, trial: Trial): boolean {
  const now = trial.find(begin.tool)
  return now !== undefined && begin.definition !== `${now.definition.version} ${now.digest}`
}
