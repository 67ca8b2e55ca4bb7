import { mostOutOfOrder } from '../../evidence/find-place.ts'
import { answerProblem } from './answers.ts'
import { readCursor, type Cursor } from './cursor.ts'
import { notSeen } from './find-reach.ts'
import type { Asked, Question } from './endpoint.ts'
import { everyTenant, type ConsoleRole } from '../../contract/mcp/console-login.ts'
import { mayDo, sees, usualTenant } from './roles.ts'

/** Rows that a list shows at most. */
export const mostRows = 500

/** A whole number of a query, from 1 on; or that it is another one. */
export function readCount(
  query: URLSearchParams,
  { name, usual, most }: { readonly name: string; readonly usual: number; readonly most: number },
): number | Response {
  const count = Number(query.get(name) ?? usual)
  if (Number.isSafeInteger(count) && count >= 1 && count <= most) return count
  return answerProblem({ status: 400, detail: `"${name}" is a whole number from 1 to ${most}.` })
}

/** How many rows of a list are asked for, and behind which place. */
export function readPage(
  query: URLSearchParams,
  usual: number,
): { readonly limit: number; readonly before: Cursor } | Response {
  const limit = readCount(query, { name: 'limit', usual, most: mostRows })
  if (limit instanceof Response) return limit
  const before = readCursor(query.get('before'))
  if (before !== undefined) return { limit, before }
  return answerProblem({ status: 400, detail: '"before" is the "next" of the page before.' })
}

/** What says where a list begins. */
export const placeQuery = {
  tenant: 'Only of this tenant.',
  until: `Only what was made before then, in milliseconds since the epoch. What is more than ${mostOutOfOrder} records out of order, as where a clock was set back, may be left out.`,
  record:
    'Begins at the record with this number in the chain of `tenant`; if that is absent, of the usual one.',
} as const

/** The part of a list that is asked for: how much, from where on, and of which tenants. */
export interface Part {
  readonly tenants: readonly string[]
  readonly limit: number
  readonly before: Cursor
  readonly until?: number
}

/** A time in milliseconds since the epoch; undefined if the query names none. */
export function readTime(query: URLSearchParams, name: string): number | undefined | Response {
  const time = query.has(name) ? Number(query.get(name)) : undefined
  if (time === undefined || Number.isFinite(time)) return time
  return answerProblem({ status: 400, detail: `"${name}" is a time in milliseconds since the epoch.` })
}

/** Reads a part of a list that has `placeQuery`. */
export function readPart(asked: Asked, usual: number): Part | Response {
  const { query } = asked
  const page = readPage(query, usual)
  if (page instanceof Response) return page
  const until = readTime(query, 'until')
  if (until instanceof Response) return until
  const timed = { ...page, ...(until !== undefined && { until }) }
  if (!query.has('tenant') && !query.has('record')) return { ...timed, tenants: asked.tenants }
  const tenant = readTenant(asked)
  if (tenant instanceof Response) return tenant
  const record = readCount(query, { name: 'record', usual: 1, most: Number.MAX_SAFE_INTEGER - 1 })
  if (record instanceof Response) return record
  const isFirst = query.has('record') && page.before.size === 0
  return { ...timed, tenants: [tenant], ...(isFirst && { before: new Map([[tenant, record + 1]]) }) }
}

/** A tenant that the visitor sees: the one that the query names, else their usual one. */
export function readTenant({ visitor, query, parts }: Question): string | Response {
  const tenant = query.get('tenant') ?? usualTenant(visitor)
  if (tenant === everyTenant || !sees(visitor, tenant)) return answerProblem({ status: 403, detail: notSeen })
  const known = ['local', ...parts.runtime.store.tenants(), ...visitor.roles.keys()]
  if (known.includes(tenant)) return tenant
  return answerProblem({ status: 404, detail: `There is no tenant "${tenant.slice(0, 100)}" here.` })
}

/** Of the tenant that `readTenant` finds. */
export function ofTenant(question: Question): readonly string[] | Response {
  const tenant = readTenant(question)
  return tenant instanceof Response ? tenant : [tenant]
}

/** What is one thing for all tenants, such as a file of the gateway. */
export function ofAllTenants(): readonly string[] {
  return [everyTenant]
}

/** What holds for all tenants is changed for all by those who have the role everywhere and name none. */
export function ofTenantOrAll(role: ConsoleRole) {
  return (question: Question): readonly string[] | Response =>
    question.query.has('tenant') || !mayDo(question.visitor, role, everyTenant)
      ? ofTenant(question)
      : [everyTenant]
}
