import { answerProblem } from './answers.ts'
import type { PolicyDesk } from './console-parts.ts'
import { mayDo, sees, type Visitor } from './roles.ts'

/** Why a visitor cannot change the policy at this place, or anywhere in it; undefined if they can. */
export function whyReadOnly(
  visitor: Visitor,
  { book }: PolicyDesk,
  place: readonly (string | number)[] = [],
): string | undefined {
  if (book === undefined) return 'The program that runs this gateway gives its policy: change it there.'
  if (!mayDo(visitor, 'operator'))
    return `This takes the role "operator"; "${visitor.actor}" is "${visitor.role}" here.`
  const [part, tenant] = place
  const isOwn = part === 'tenants' && typeof tenant === 'string' && sees(visitor, tenant)
  if (visitor.tenant === undefined || isOwn) return undefined
  return `The policy is for all tenants, and "${visitor.actor}" is of "${visitor.tenant}" alone.`
}

/** The same as an answer. */
export function refuseReadOnly(...about: Parameters<typeof whyReadOnly>): Response | undefined {
  const detail = whyReadOnly(...about)
  return detail === undefined ? undefined : answerProblem({ status: 403, detail, code: 'policy_read_only' })
}
