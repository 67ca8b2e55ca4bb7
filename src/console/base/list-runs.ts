import type { StoredRun } from '../../contract/agent-run.ts'
import type { Asked } from './endpoint.ts'

/** The newest runs of the tenants that the visitor sees, the newest first: at most so many of each tenant. */
export function listRuns(
  { tenants, parts: { runtime } }: Pick<Asked, 'tenants' | 'parts'>,
  limit: number,
): readonly StoredRun[] {
  return tenants
    .flatMap((tenant) => runtime.runs.list({ limit, tenant }))
    .toSorted((one, other) => other.startedAt - one.startedAt)
}
