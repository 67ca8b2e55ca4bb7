import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import type { RecordQuery } from '../../../contract/store.ts'
import { migrationStatements } from '../migrate.ts'
import { createSealer } from '../seals/sealer.ts'
import { createSummaries } from '../summaries/summaries.ts'
import { readRecords } from './read-records.ts'

/** What SQLite goes through for a query. */
function plansOf(query: RecordQuery): string[] {
  const db = new DatabaseSync(':memory:')
  for (const statement of migrationStatements(0)) db.exec(statement)
  const summaries = createSummaries({
    db,
    sealer: createSealer(Buffer.alloc(32)),
    busyTimeoutMs: 0,
    mayWrite: () => false,
    onDue: () => {},
  })
  const prepare = db.prepare.bind(db)
  const plans: string[] = []
  db.prepare = (sql) => {
    const plan = prepare(`EXPLAIN QUERY PLAN ${sql}`).all()
    if (sql.includes('ORDER BY sequence ')) plans.push(...plan.map(({ detail }) => String(detail)))
    return prepare(sql)
  }
  expect([...readRecords({ db, summaries }, query)]).toEqual([])
  db.close()
  return plans
}

test.each<[string, RecordQuery]>([
  ['records_session', { session: 'thread' }],
  ['records_session', { session: 'thread', kind: 'begin', newestFirst: true }],
  ['records_sequence', { after: 5 }],
  ['records_sequence', { kind: 'end', outcome: 'ok', newestFirst: true }],
])('has the index %s for %j, and sorts nothing', (index, query) => {
  expect(plansOf({ tenant: 'local', ...query })).toEqual([expect.stringContaining(`USING INDEX ${index} (`)])
})
