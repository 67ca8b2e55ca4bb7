import type { Decision } from '../contract/policy.ts'
import type { Principal } from '../contract/principal.ts'

/** Questions of the safe defaults that a rule answers which names the tool alone. */
const answeredByTool: readonly string[] = ['network', 'write', 'consent']

/**
 * What the operator can write so that a tool is let through where nobody can be asked: a rule, where one that names the tool answers the
 * question, and a standing consent. Undefined where every single call needs a person.
 */
export function adviseYes(
  tool: string,
  { layer, rule, keepable }: Pick<Decision, 'layer' | 'rule' | 'keepable'>,
  { tenant }: Pick<Principal, 'tenant'>,
): string | undefined {
  if (keepable === false) return undefined
  const consent = `handrail consent give ${tool}${tenant === 'local' ? '' : ` --tenant ${tenant}`}`
  if (layer !== 'defaults' || !answeredByTool.includes(rule))
    return `The operator can let it through for a day: ${consent}`
  const line = JSON.stringify({ effect: 'allow', tools: [tool] })
  return `The operator can let it through with ${line} under "rules" of policy.json, or for a day: ${consent}`
}
