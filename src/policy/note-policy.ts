import type { Issue } from '../contract/base/json.ts'
import type { Policy } from '../contract/policy.ts'
import type { ToolDefinition } from '../contract/tool/tool.ts'
import { findIdleRules, type IdleRule } from './find-idle-rules.ts'
import { findMisspeltTools } from './find-misspelt-tools.ts'

/** What is odd about a policy without an issue: tools that are probably misspelt, and parts that decide nothing for the tools there are. */
export function notePolicy(policy: Policy, definitions: readonly ToolDefinition[]): IdleRule[] {
  const misspelt = findMisspelt(policy, definitions)
  const isTold = (rule: string): boolean =>
    misspelt.some(({ pointer }) => pointer.startsWith(`${rule}/tools/`))
  return [
    ...misspelt.map(({ pointer, message }) => ({ pointer, message })),
    ...findIdleRules(policy, definitions).filter(({ pointer }) => !isTold(pointer)),
  ]
}

/** An issue for each name in a policy that no tool has, and that looks very much like one that a tool has. */
export function findMisspelt(policy: Policy, definitions: readonly ToolDefinition[]): Issue[] {
  const names = new Set(definitions.map(({ name }) => name))
  return findMisspeltTools({ policy }, names).map(({ pointer, named, meant }) => ({
    pointer: pointer.replace('/policy', ''),
    code: 'never_matches',
    message: `There is no tool "${named}" here, so that this matches nothing. Did you mean "${meant}"?`,
  }))
}
