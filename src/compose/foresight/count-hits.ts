import type { Layer, Policy, Rule } from '../../contract/policy.ts'
import type { Store } from '../../contract/store.ts'
import { pointerTo } from '../../kit/json/json-pointer.ts'
import { readRecord } from '../../kit/result/read-record.ts'
import type { RecentCalls } from './recent-calls.ts'

/** A rule that is in force, and what it decided. */
export interface RuleHits {
  /** The JSON pointer of its place in the policy, or in the file of the project. */
  readonly pointer: string
  readonly layer: Extract<Layer, 'policy' | 'tenant' | 'project'>
  /** Whose rule it is, if it is of one tenant. */
  readonly tenant?: string
  /** As the evidence names it. */
  readonly id: string
  readonly rule: Rule
  /** Calls that it decided. */
  readonly hits: number
  /** When it decided the last one, in milliseconds since the epoch. */
  readonly lastAt?: number
}

/** The rules of a policy and of a project, with how many of the last calls each decided. */
export function countHits(
  { policy, projectRules = [] }: { policy: Policy; projectRules?: readonly Rule[] },
  store: Pick<Store, 'records'>,
  recent: RecentCalls,
): RuleHits[] {
  const found = readDecisions(store, recent)
  const of = (
    rules: readonly Rule[],
    { layer, pointer, tenant }: { layer: RuleHits['layer']; pointer: string; tenant?: string },
  ): RuleHits[] =>
    rules.map((rule, index) => {
      const id = rule.id ?? `${layer}/rules/${index}`
      const hit = found.get(keyOf(layer, id, tenant))
      return {
        pointer: pointerTo(pointer, index),
        layer,
        ...(tenant !== undefined && { tenant }),
        id,
        rule,
        hits: hit?.hits ?? 0,
        ...(hit !== undefined && { lastAt: hit.lastAt }),
      }
    })
  return [
    ...of(policy.rules ?? [], { layer: 'policy', pointer: '/rules' }),
    ...Object.entries(policy.tenants ?? {}).flatMap(([tenant, { rules = [] }]) =>
      of(rules, { layer: 'tenant', pointer: `${pointerTo('/tenants', tenant)}/rules`, tenant }),
    ),
    ...of(projectRules, { layer: 'project', pointer: '/rules' }),
  ]
}

function keyOf(layer: string, rule: string, tenant: string | undefined): string {
  return JSON.stringify([layer, rule, layer === 'tenant' ? tenant : ''])
}

function readDecisions(
  store: Pick<Store, 'records'>,
  { tenants, since, most }: RecentCalls,
): Map<string, { hits: number; lastAt: number }> {
  const found = new Map<string, { hits: number; lastAt: number }>()
  for (const tenant of tenants) {
    let left = most
    for (const { text } of store.records({ tenant, kind: 'begin', newestFirst: true })) {
      const { at, decision } = readRecord(text, 'begin')
      if (at < since || left-- === 0) break
      if (decision === undefined) continue
      const key = keyOf(decision.layer, decision.rule, tenant)
      const { hits, lastAt } = found.get(key) ?? { hits: 0, lastAt: at }
      found.set(key, { hits: hits + 1, lastAt })
    }
  }
  return found
}
