import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { hasOwnSession } from '../../own-session.ts'
import { migrationStatements } from '../migrate.ts'

test('finds the records of a session with an id of its own without reading those of others', () => {
  const db = new DatabaseSync(':memory:')
  for (const statement of migrationStatements(0)) db.exec(statement)
  const plan = db
    .prepare(
      `EXPLAIN QUERY PLAN SELECT text FROM records WHERE tenant = ? AND sequence > ? AND sequence < ? AND session = ? AND ${hasOwnSession} ORDER BY sequence DESC LIMIT ?`,
    )
    .all('local', 0, 9, 'thread', 5)
  expect(plan.map(({ detail }) => detail)).toEqual([expect.stringContaining('USING INDEX records_session')])
  db.close()
})
