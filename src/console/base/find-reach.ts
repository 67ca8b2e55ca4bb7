import { answerProblem } from './answers.ts'
import type { Endpoint, Question } from './endpoint.ts'
import { everyTenant } from '../../contract/mcp/console-login.ts'
import { mayDo, describeRole, sees, tenantsOf } from './roles.ts'

/** The tenants that a question reaches, in all of which its visitor has the role that it takes; or why it is refused. */
export function findReach({ role, reach }: Endpoint, question: Question): readonly string[] | Response {
  const { visitor, parts } = question
  if (reach === 'self') return []
  if (reach === 'each') {
    const own = tenantsOf(visitor, parts.runtime.store.tenants(), role)
    const isAnywhere = own.length > 0 || mayDo(visitor, role, everyTenant)
    return isAnywhere ? own : refuse(`This takes the role "${role}"; "${visitor.name}" has it in no tenant.`)
  }
  const found = reach(question)
  if (found instanceof Response) return found
  const missing = found.find((tenant) => !mayDo(visitor, role, tenant))
  if (missing === undefined) return found
  if (missing === everyTenant)
    return refuse(`This is of all tenants: it takes the role "${role}" in all of them.`)
  if (!sees(visitor, missing)) return refuse(notSeen)
  return refuse(
    `This takes the role "${role}" in the tenant "${missing}"; ${describeRole(visitor, missing)}.`,
  )
}

/** What another tenant has, and whether there is such a tenant, is for its own people to know. */
export const notSeen = 'You see nothing of that tenant.'

function refuse(detail: string): Response {
  return answerProblem({ status: 403, detail })
}
