import { join } from 'node:path'
import { SetupError } from '../../contract/base/errors.ts'
import type { Policy, Rule } from '../../contract/policy.ts'
import type { RecordedCall } from '../../evidence/read-calls.ts'
import { listIssues } from '../../kit/json/list-issues.ts'
import type { RuntimeOptions } from '../options/runtime-options.ts'
import { createSimulation, type Simulation } from '../simulation/create-simulation.ts'
import type { SimulatedDecision } from '../simulation/to-simulated-decision.ts'
import { addRule } from './add-rule.ts'
import { createJudge, type Judge } from './create-judge.ts'
import { readsInput } from '../simulation/read-recorded.ts'
import { nameCall, type JudgedCall, type NamedCall } from './judged-call.ts'
import { approvalOf } from './recent-calls.ts'

/** A call of the past that a rule would have let through, and that no policy let through without a person. */
export interface LetThrough extends NamedCall {
  /** `denied` by a rule or a person, `asked` without an answer, or `allowed` by a person, their yes for a session or a standing consent. */
  readonly was: 'denied' | 'asked' | 'allowed'
  /** The layer and rule that decided, or the person who answered. */
  readonly by: string
}

/** A rule beside those in force, on trial. Close it. */
export interface RuleTrial {
  /** Why it would not let this call through; undefined if it would. */
  findObstacle(call: JudgedCall): Promise<string | undefined>
  /** What else it would have let through of these, and of how many nothing can be said. */
  findOthers(
    calls: readonly RecordedCall[],
  ): Promise<{ readonly others: readonly LetThrough[]; readonly unjudged: number }>
  close(): Promise<void>
}

export interface TrialOptions {
  readonly tenant: string
  readonly rule: Rule
  /** What decides now. */
  readonly runtime: RuntimeOptions
  /** By what decides now. */
  readonly judge: Judge
}

/** Resolves with the reason if the rule cannot stand in the policy. */
export async function openTrial({
  tenant,
  rule,
  runtime,
  judge,
}: TrialOptions): Promise<RuleTrial | { readonly reason: string }> {
  const policy: Policy = addRule(runtime.policy ?? {}, tenant, rule)
  try {
    const second = await createSimulation({ ...runtime, policy, onError: () => {} })
    return {
      findObstacle: (call) => findCallObstacle(call, second),
      findOthers: (calls) => findOthers(calls, createJudge(second, readsInput({ rules: [rule] })), judge),
      close: () => second.close(),
    }
  } catch (error) {
    if (!(error instanceof SetupError)) throw error
    return { reason: `the policy would not take it: ${listIssues(error.issues, '/') || error.message}` }
  }
}

/** Whether a policy without people would let this call through. */
export async function decide(call: JudgedCall, simulation: Simulation): Promise<SimulatedDecision> {
  const { caller, tool, tenant, input, operations, wrote } = call
  // What a program changed is judged with it: a rule that lets a command only look lets no change of it land.
  const change = {
    kind: 'fs.write',
    path: join(simulation.projectOf(tenant), 'change'),
    by: 'program',
  } as const
  return simulation.judgeReach(caller, tool, {
    operations: wrote ? [...operations, change] : operations,
    input,
  })
}

async function findCallObstacle(call: JudgedCall, second: Simulation): Promise<string | undefined> {
  const decision = await decide(call, second)
  if (!decision.decided) return decision.reason
  const { effect, layer, rule, reason } = decision
  if (effect === 'allow') return undefined
  if (layer === 'set')
    return 'the session of such a call has not the tool by its role, and what it was opened with beside is not in the evidence'
  return `${layer}/${rule} would ${effect === 'ask' ? 'still ask' : 'deny'}: ${reason}`
}

async function findOthers(
  calls: readonly RecordedCall[],
  second: Judge,
  present: Judge,
): Promise<{ others: LetThrough[]; unjudged: number }> {
  const others: LetThrough[] = []
  let unjudged = 0
  for (const call of calls) {
    const [would, now] = [await second(call), await present(call)]
    if ('obstacle' in would || 'obstacle' in now) unjudged++
    else if (would.effect === 'allow' && now.effect !== 'allow')
      others.push({ ...nameCall(call.begin), ...becameOf(call) })
  }
  return { others, unjudged }
}

/** What became of a call, and by what. */
function becameOf(call: RecordedCall): Pick<LetThrough, 'was' | 'by'> {
  const { begin, end } = call
  const approval = approvalOf(call)
  const decided = begin.decision === undefined ? '' : `${begin.decision.layer}/${begin.decision.rule}`
  if (approval !== undefined) return { was: 'allowed', by: approval.by ?? 'a person' }
  if (begin.decision?.effect === 'ask')
    return end?.reason === 'denied' ? { was: 'denied', by: 'a person' } : { was: 'asked', by: decided }
  return { was: begin.decision?.effect === 'deny' ? 'denied' : 'allowed', by: decided }
}
