import type { SQLInputValue } from 'node:sqlite'
import type { RecordQuery } from '../../../contract/store.ts'
import { wordsFor } from '../../../kit/names/renamed-words.ts'
import { isOwnSession } from '../../own-session.ts'
import { recordText } from '../packs/record-sql.ts'

/** What a query asks of each record, in SQL. */
export interface Conditions {
  where: string[]
  values: Record<string, SQLInputValue>
}

/** The conditions of a query but those of its place. The plus keeps the planner from taking an index for one of them. */
export function toConditions(query: RecordQuery): Conditions {
  const where: string[] = []
  const values: Record<string, SQLInputValue> = {}
  const ask = (name: string, condition: string, value: SQLInputValue | undefined): void => {
    if (value === undefined) return
    where.push(`${condition} :${name}`)
    values[name] = value
  }
  ask('kind', '+kind =', query.kind)
  // Of other sessions, nothing but the text of a record says which it is of.
  ask('session', isOwnSession(query.session) ? '+session =' : `${member('session')} =`, query.session)
  ask('tool', `${member('tool')} GLOB`, query.tool === undefined ? undefined : toGlob(query.tool))
  ask('actor', `${member('actor')} =`, query.actor)
  ask('outcome', `${member('outcome')} =`, query.outcome)
  if (query.event !== undefined) {
    where.push(`${member('event')} IN (SELECT value FROM json_each(:events))`)
    values['events'] = JSON.stringify(wordsFor(query.event))
  }
  ask('since', `${member('at')} >=`, query.since)
  ask('until', `${member('at')} <`, query.until)
  return { where, values }
}

/** A member of a record's text, in SQL. */
export function member(
  name: 'session' | 'tool' | 'actor' | 'outcome' | 'event' | 'at' | 'durationMs',
): string {
  return `json_extract(${recordText}, '$.${name}')`
}

/** In a pattern of Handrail only the star means something else than itself. */
function toGlob(pattern: string): string {
  return pattern.replace(/[?[\]]/g, '[$&]')
}
