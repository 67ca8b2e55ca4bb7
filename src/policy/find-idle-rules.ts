import type { Policy, Rule } from '../contract/policy.ts'
import type { ToolDefinition } from '../contract/tool.ts'
import { matchPattern } from '../kit/match-pattern.ts'

/** A rule that meets none of the tools there are. It may be meant for others, so it is no fault. */
export interface IdleRule {
  /** Where it stands in the policy. */
  pointer: string
  message: string
}

/** The rules and grants of a policy that could matter to none of these tools. */
export function findIdleRules(policy: Policy, definitions: readonly ToolDefinition[]): IdleRule[] {
  const { rules = [], tenants = {}, grants = [] } = policy
  return [
    ...findIdle(rules, '/rules', definitions),
    ...Object.entries(tenants).flatMap(([tenant, own]) =>
      findIdle(own.rules ?? [], `/tenants/${tenant}/rules`, definitions),
    ),
    ...findIdle(grants, '/grants', definitions),
  ]
}

function findIdle(
  rules: readonly (Pick<Rule, 'tools' | 'tags' | 'argv'> & object)[],
  pointer: string,
  definitions: readonly ToolDefinition[],
): IdleRule[] {
  return rules.flatMap((rule, index) => {
    const met = definitions.filter((definition) => meets(rule, definition))
    if (met.length === 0) return [{ pointer: `${pointer}/${index}`, message: 'matches no tool that is here' }]
    const starts = met.some((definition) => definition.capabilities.proc.executables.length > 0)
    if (rule.argv === undefined || starts) return []
    return [{ pointer: `${pointer}/${index}/argv`, message: 'matches no tool that starts a program' }]
  })
}

function meets({ tools, tags }: Pick<Rule, 'tools' | 'tags'>, definition: ToolDefinition): boolean {
  if (tools !== undefined && !tools.some((pattern) => matchPattern(pattern, definition.name))) return false
  return tags === undefined || tags.some((tag) => definition.tags.includes(tag))
}
