import type { PolicyCase } from '../../config/policy-cases.ts'
import type { Policy } from '../../contract/policy.ts'
import type { Store } from '../../contract/store.ts'
import type { RecordedCall } from '../../evidence/read-calls.ts'
import type { IdleRule } from '../../policy/find-idle-rules.ts'
import { notePolicy } from '../../policy/note-policy.ts'
import type { RuntimeOptions } from '../options/runtime-options.ts'
import { createSimulation, type Simulation } from '../simulation/create-simulation.ts'
import { findMissing } from '../simulation/find-missing.ts'
import { readsInput } from '../simulation/read-recorded.ts'
import type { Decided } from '../simulation/shadow-policy.ts'
import { testPolicy } from '../simulation/test-policy.ts'
import { createJudge, type Judge } from './create-judge.ts'
import { nameCall, type NamedCall } from './judged-call.ts'
import { findRecentCalls } from './recent-calls.ts'
import { mostCalls, week } from './suggest-rules.ts'

/** A policy that is not in force yet, and what it is held against. */
export interface ForesightRequest {
  /** It is only read. */
  readonly store: Pick<Store, 'records' | 'tenants'>
  /** As for `createRuntime`. Its policy is the one in force. */
  readonly runtime: RuntimeOptions
  /** The one that would be. */
  readonly policy: Policy
  /** Calls since then, in milliseconds since the epoch. Default: of the last seven days. */
  readonly since?: number
  /** Default: all. */
  readonly tenants?: readonly string[]
  /** Held against the policy that would be. */
  readonly cases?: readonly PolicyCase[]
}

/** A call of the past that would be decided in another way. */
export interface ForeseenCall extends NamedCall {
  /** As it was decided then. */
  readonly was: Decided
  /** As the policy in force decides it. */
  readonly now: Decided
  /** As the other policy would decide it. */
  readonly would: Decided & { readonly reason: string }
}

/** What would come of a policy. */
export interface Foresight {
  readonly judged: number
  /** The oldest first. */
  readonly different: readonly ForeseenCall[]
  /** Calls of which nothing can be said, by reason. */
  readonly unjudged: readonly { readonly reason: string; readonly calls: number }[]
  /** Whether only the newest calls were looked at, as there are too many. */
  readonly isCut: boolean
  /** Rules that could never count, and names that are probably misspelt. */
  readonly notes: readonly IdleRule[]
  /** Cases that come out otherwise than they should. */
  readonly failures: readonly CaseOutcome[]
  readonly cases: number
}

export interface CaseOutcome {
  readonly name: string
  readonly expected: string
  readonly found: string
}

/**
 * What another policy would have decided otherwise of the calls of the last week than the one in force. A yes for the session and a standing consent are
 * people's answers: what only they let through is asked about by both. Throws a SetupError if the policy cannot be used.
 */
export async function foreseePolicy(request: ForesightRequest): Promise<Foresight> {
  const { runtime, policy, cases = [] } = request
  const second = await createSimulation({ ...runtime, policy, onError: () => {} })
  try {
    const present = await createSimulation({ ...runtime, onError: () => {} })
    try {
      return {
        ...(await compare(request, { second, present })),
        notes: notePolicy(policy, second.definitions()),
        failures: await runCases(cases, second),
        cases: cases.length,
      }
    } finally {
      await present.close()
    }
  } finally {
    await second.close()
  }
}

interface Simulations {
  readonly second: Simulation
  readonly present: Simulation
}

async function compare(
  { store, runtime, policy, since = Date.now() - week, tenants = store.tenants() }: ForesightRequest,
  { second, present }: Simulations,
): Promise<Pick<Foresight, 'judged' | 'different' | 'unjudged' | 'isCut'>> {
  const { calls, isCut } = findRecentCalls(store, { tenants, since, most: mostCalls })
  const looksAtInput = readsInput(policy) || readsInput(runtime.policy ?? {})
  const judges = { second: createJudge(second, looksAtInput), present: createJudge(present, looksAtInput) }
  const different: ForeseenCall[] = []
  const unjudged = new Map<string, number>()
  let judged = 0
  for (const call of calls) {
    const found = await judge(call, judges)
    if ('obstacle' in found) unjudged.set(found.obstacle, (unjudged.get(found.obstacle) ?? 0) + 1)
    else {
      judged++
      if (found.now.effect !== found.would.effect) different.push({ ...nameCall(call.begin), ...found })
    }
  }
  return {
    judged,
    different,
    unjudged: [...unjudged].map(([reason, count]) => ({ reason, calls: count })),
    isCut,
  }
}

type Judged = Pick<ForeseenCall, 'was' | 'now' | 'would'>

async function judge(
  call: RecordedCall,
  { second, present }: { second: Judge; present: Judge },
): Promise<Judged | { obstacle: string }> {
  const was = call.begin.decision
  if (was === undefined) return { obstacle: 'it ended before anything was decided' }
  const [would, now] = [await second(call), await present(call)]
  if ('obstacle' in would) return would
  if ('obstacle' in now) return now
  if (would.layer === 'bounds' && now.layer === 'bounds' && was.layer !== 'bounds')
    return { obstacle: 'it reached what lies outside of this project, so it was made in another one' }
  const { effect, layer, rule, reason } = would
  return {
    was: { ...was },
    now: { effect: now.effect, layer: now.layer, rule: now.rule },
    would: { effect, layer, rule, reason },
  }
}

async function runCases(cases: readonly PolicyCase[], simulation: Simulation): Promise<CaseOutcome[]> {
  const missing = findMissing(cases, simulation)
  if (missing.length > 0)
    return missing.map(({ pointer, message }) => ({
      name: pointer,
      expected: 'what is here',
      found: message,
    }))
  const failures = await testPolicy(cases, simulation)
  return failures.map(({ name, expected, found }) => ({ name, expected, found }))
}
