import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import type { RecordQuery } from '../../../contract/store.ts'
import { migrationStatements } from '../migrate.ts'
import { readRecords } from './read-records.ts'

/** What SQLite goes through for a query. */
function plansOf(query: RecordQuery): string[] {
  const db = new DatabaseSync(':memory:')
  for (const statement of migrationStatements(0)) db.exec(statement)
  const prepare = db.prepare.bind(db)
  const plans: string[] = []
  db.prepare = (sql) => {
    const plan = prepare(`EXPLAIN QUERY PLAN ${sql}`).all()
    if (sql.includes('FROM records')) plans.push(...plan.map(({ detail }) => String(detail)))
    return prepare(sql)
  }
  expect([...readRecords(db, query)]).toEqual([])
  db.close()
  return plans
}

test.each<[string, RecordQuery]>([
  ['records_session', { session: 'thread' }],
  ['records_session', { session: 'ses_1', kind: 'begin', newestFirst: true }],
  ['records_begun', { kind: 'begin', tool: 'code.*', actor: 'ann' }],
  ['records_bad', { kind: 'end', outcome: 'denied', newestFirst: true }],
  ['records_note', { kind: 'note' }],
  ['records_sequence', { kind: 'end', outcome: 'ok' }],
])('has the index %s for %j, and sorts nothing', (index, query) => {
  expect(plansOf({ tenant: 'local', ...query })).toEqual([expect.stringContaining(`USING INDEX ${index} (`)])
})
