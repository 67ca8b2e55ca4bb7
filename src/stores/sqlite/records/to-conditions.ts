import type { SQLInputValue } from 'node:sqlite'
import type { RecordQuery } from '../../../contract/store.ts'

/** What a query asks of each record, in SQL. */
export interface Conditions {
  where: string[]
  values: Record<string, SQLInputValue>
}

const kinds: ReadonlySet<string> = new Set(['begin', 'end', 'note', 'checkpoint'])

/** The conditions of a query but those of its place. With `plus` before each column, no index is taken for one. */
export function toConditions(query: RecordQuery, plus: '' | '+' = ''): Conditions {
  const { session, kind, tool, actor, outcome, since } = query
  const where: string[] = []
  const values: Record<string, SQLInputValue> = {}
  const ask = (name: string, condition: string, value: SQLInputValue | undefined): void => {
    if (value === undefined) return
    where.push(`${plus}${name} ${condition} :${name}`)
    values[name] = value
  }
  // The indexes of one kind are taken only for a kind that stands in the statement itself.
  if (kind !== undefined) where.push(kinds.has(kind) ? `${plus}kind = '${kind}'` : 'false')
  if (outcome !== undefined && outcome !== 'ok') where.push("outcome <> 'ok'")
  ask('session', '=', session)
  ask('tool', 'GLOB', tool === undefined ? undefined : toGlob(tool))
  ask('actor', '=', actor)
  ask('outcome', '=', outcome)
  ask('at', '>=', since)
  return { where, values }
}

/** In a pattern of Handrail only the star means something else than itself. */
function toGlob(pattern: string): string {
  return pattern.replace(/[?[\]]/g, '[$&]')
}
