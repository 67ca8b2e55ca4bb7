import type { Decision } from '../../contract/policy.ts'
import type { TenantContext } from '../state/scope.ts'

/** Questions of the safe defaults that a rule answers which names the tool alone. */
const answeredByTool: readonly string[] = ['network', 'write', 'consent']

/** A call that a person would have to answer. */
interface Unanswered {
  readonly tool: string
  readonly decision: Pick<Decision, 'layer' | 'rule' | 'keepable'>
  readonly tenant: string
  /** Whether a person is asked, and did not answer. */
  readonly isAsked: boolean
}

/**
 * What the operator can do so that a tool is let through if no person can be asked: write a rule, if one that names the tool answers the
 * question, or give a standing consent; or let the program ask a person. Undefined if there is nothing to do.
 */
export function adviseYes(call: Unanswered, operatedBy: TenantContext['operatedBy']): string | undefined {
  const who = operatedBy === 'program' ? 'program' : 'operator'
  const ways = call.decision.keepable === false ? [] : listWays(call, operatedBy)
  const parts = [
    ...(ways.length > 0 ? [`let it through ${ways.join(', or ')}`] : []),
    ...(operatedBy === 'program' && !call.isAsked ? [askPerson] : []),
  ]
  return parts.length === 0 ? undefined : `The ${who} can ${parts.join(', or ')}`
}

const askPerson = 'ask a person, by the option "approve" of createRuntime or of a session'

function listWays({ tool, decision, tenant }: Unanswered, operatedBy: TenantContext['operatedBy']): string[] {
  const { layer, rule } = decision
  const line = JSON.stringify({ effect: 'allow', tools: [tool] })
  const isAnswered = layer === 'defaults' && answeredByTool.includes(rule)
  const isLocal = tenant === 'local'
  if (operatedBy === 'program') {
    const consent = JSON.stringify({ tool, ...(!isLocal && { tenant }), givenBy: '…' })
    const inPolicy = isAnswered ? [`with ${line} among the "rules" of its policy`] : []
    return [...inPolicy, `for a day with runtime.consents.give(${consent})`]
  }
  const inPolicy = isAnswered ? [`with ${line} under "rules" of policy.json`] : []
  return [...inPolicy, `for a day: handrail consent give ${tool}${isLocal ? '' : ` --tenant ${tenant}`}`]
}
