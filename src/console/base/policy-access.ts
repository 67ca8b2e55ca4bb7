import { everyTenant } from '../../contract/mcp/console-login.ts'
import { answerProblem } from './answers.ts'
import type { PolicyDesk } from './console-parts.ts'
import { describeRole, mayDo, type Visitor } from './roles.ts'

/** Why a visitor cannot change the policy at this place, or anywhere in it; undefined if they can. */
export function whyReadOnly(
  visitor: Visitor,
  { book }: PolicyDesk,
  place: readonly (string | number)[] = [],
): string | undefined {
  if (book === undefined) return 'The program that runs this gateway gives its policy: change it there.'
  const [part, tenant] = place
  const at = part === 'tenants' && typeof tenant === 'string' ? tenant : everyTenant
  if (mayDo(visitor, 'operator', at)) return undefined
  const role = describeRole(visitor, at)
  return at === everyTenant
    ? `The policy is for all tenants: changing it takes the role "operator" in all of them; ${role}.`
    : `This takes the role "operator" in the tenant "${at}"; ${role}.`
}

/** The same as an answer. */
export function refuseReadOnly(...about: Parameters<typeof whyReadOnly>): Response | undefined {
  const detail = whyReadOnly(...about)
  return detail === undefined ? undefined : answerProblem({ status: 403, detail, code: 'policy_read_only' })
}
