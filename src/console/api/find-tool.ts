import type { Registered } from '../../contract/registry.ts'
import { answerProblem } from '../base/answers.ts'
import type { Asked } from '../base/endpoint.ts'
import { readTenant } from '../base/read-query.ts'

/** The tenant of a question, which has to be there. */
export function findTenant({ query, visitor, parts }: Asked): string | Response {
  const tenant = readTenant(visitor, query.get('tenant'))
  if (tenant instanceof Response) return tenant
  const known = ['local', ...parts.runtime.store.tenants()]
  if (visitor.tenant === undefined && !known.includes(tenant))
    return answerProblem({ status: 404, detail: `There is no tenant "${tenant.slice(0, 100)}" here.` })
  return tenant
}

/** The tool that a path names, as the tenant of the question has it. */
export function findTool(asked: Asked): { registered: Registered; tenant: string } | Response {
  const tenant = findTenant(asked)
  if (tenant instanceof Response) return tenant
  const registered = asked.parts.runtime.registry.view(tenant).find(asked.path['tool'] ?? '')
  if (registered !== undefined) return { registered, tenant }
  return answerProblem({ status: 404, detail: 'There is no such tool.' })
}
