import type { Policy, Rule } from '../../contract/policy.ts'

/** Where a rule for the calls of one tenant goes, as the names and places on the way to it. */
export function placeOfRule({ tenants, rules = [] }: Policy, tenant: string): readonly (string | number)[] {
  // A policy that names tenants names all of them but `local`, so that only one that does has a place for each.
  if (tenants === undefined) return ['rules', rules.length]
  const own = Object.hasOwn(tenants, tenant) ? tenants[tenant]?.rules : undefined
  return ['tenants', tenant, 'rules', own?.length ?? 0]
}

/** The policy with one more rule, for this tenant alone if the policy names its tenants. */
export function addRule(policy: Policy, tenant: string, rule: Rule): Policy {
  const { tenants, rules = [] } = policy
  if (tenants === undefined) return { ...policy, rules: [...rules, rule] }
  const own = (Object.hasOwn(tenants, tenant) ? tenants[tenant] : undefined) ?? {}
  return { ...policy, tenants: { ...tenants, [tenant]: { ...own, rules: [...(own.rules ?? []), rule] } } }
}
