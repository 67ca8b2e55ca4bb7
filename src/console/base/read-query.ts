import { answerProblem } from './answers.ts'
import { readCursor, type Cursor } from './cursor.ts'
import { sees, type Visitor } from './roles.ts'

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

/** A tenant that the visitor sees: the named one, else their own, else `local`. */
export function readTenant(visitor: Visitor, named: string | null | undefined): string | Response {
  const tenant = named ?? visitor.tenant ?? 'local'
  if (sees(visitor, tenant)) return tenant
  return answerProblem({ status: 403, detail: 'You see your own tenant only.' })
}
