import type { StoredRun } from '../../contract/agent-run.ts'
import { everyTenant } from '../../contract/mcp/console-login.ts'
import type { Asked } from './endpoint.ts'
import { sees } from './roles.ts'

/** The newest runs of the tenants that the visitor sees: at most so many, or so many of each tenant if they do not see all. */
export function listRuns(
  { visitor, tenants, parts: { runtime } }: Pick<Asked, 'visitor' | 'tenants' | 'parts'>,
  limit: number,
): readonly StoredRun[] {
  return sees(visitor, everyTenant)
    ? runtime.runs.list({ limit })
    : tenants.flatMap((tenant) => runtime.runs.list({ limit, tenant }))
}
