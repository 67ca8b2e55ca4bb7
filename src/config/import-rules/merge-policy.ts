import type { Policy, Rule } from '../../contract/policy.ts'
import type { ImportedRules } from './imported-rules.ts'

/** A policy with imported rules in it. */
export interface MergedPolicy {
  policy: Policy
  added: readonly Rule[]
  /** Whether the mode is one that the policy did not have before. */
  addsMode: boolean
}

/** Adds rules whose ids are not in the policy yet, and the mode where it names none. What is there stays as it is. */
export function mergePolicy(policy: Policy, imported: ImportedRules): MergedPolicy {
  const { rules = [] } = policy
  const ids = new Set(rules.map(({ id }) => id))
  const added = imported.rules.filter(({ id }) => !ids.has(id))
  const addsMode = policy.mode === undefined && imported.mode !== undefined
  return {
    policy: {
      ...policy,
      ...(addsMode && { mode: imported.mode }),
      ...(added.length > 0 && { rules: [...rules, ...added] }),
    },
    added,
    addsMode,
  }
}
