import { SetupError } from '../../contract/base/errors.ts'
import type { Issue } from '../../contract/base/json.ts'
import type { StopScope } from '../../contract/base/stop.ts'
import { findUnknownFields } from '../../kit/json/find-unknown-fields.ts'
import { idForm, isId } from '../../kit/match/is-id.ts'

const scopeFields = ['tenant', 'actor', 'server', 'tools'] as const

/** Throws a SetupError with all that is wrong with what is to be stopped: a stop that means nothing would be taken for one that holds. */
export function checkStop(
  request: StopScope & { readonly by: string },
  more: readonly string[],
  findTenantIssue: (tenant: string) => string | undefined,
): void {
  const fields = [...scopeFields, 'by', ...more]
  const issues: Issue[] = [...findUnknownFields(request, fields)]
  for (const field of fields) {
    const value: unknown = (request as unknown as Readonly<Record<string, unknown>>)[field]
    if (value === undefined && field !== 'by') continue
    if (typeof value !== 'string' || value === '')
      issues.push({
        pointer: `/${field}`,
        code: 'wrong_type',
        message: `"${field}" must be a text that is not empty.`,
      })
  }
  const { tenant, actor } = request
  if (typeof actor === 'string' && actor !== '' && !isId(actor))
    issues.push({
      pointer: '/actor',
      code: 'invalid_id',
      message: `"${actor.slice(0, 80)}" is not an id of an actor: use ${idForm}.`,
    })
  const tenantIssue = typeof tenant === 'string' && tenant !== '' ? findTenantIssue(tenant) : undefined
  if (tenantIssue !== undefined)
    issues.push({ pointer: '/tenant', code: 'unknown_tenant', message: tenantIssue })
  if (issues.length > 0)
    throw new SetupError('invalid_options', 'Nothing was stopped, as the request means nothing here:', issues)
}
