import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { Document, DocumentChange, DocumentQuery } from '../../contract/documents.ts'
import { parseJson } from '../../kit/json/parse-json.ts'
import { changedDocument } from '../refusals.ts'
import { createSealedTable, sealedTables, type SealedTable } from './seals/sealed-table.ts'
import type { SealedWrites } from './seals/sealed-writes.ts'

/** Documents of a file that other processes change too. */
export interface Documents {
  /** Throws `Tampered` where one that fits was not written with the key of the store. */
  read(query: DocumentQuery): Document[]
  /** Call it inside a transaction. */
  change(changes: readonly DocumentChange[]): void
}

const columns = 'kind, tenant, within, id, value, seal'

/** The documents of this file. Many processes never ask for any, so what they need is made when they do. */
export function createDocuments(db: DatabaseSync, writes: SealedWrites): Documents {
  let opened: SealedTable | undefined
  const table = (): SealedTable => (opened ??= createSealedTable(db, writes, sealedTables.documents))
  const statements = new Map<string, StatementSync>()
  const prepare = (text: string): StatementSync => {
    let statement = statements.get(text)
    if (statement === undefined) statements.set(text, (statement = db.prepare(text)))
    return statement
  }
  const textOf = ({ kind, tenant, group, id }: Omit<Document, 'value'>): string => {
    const one = `SELECT ${columns} FROM documents WHERE kind = ? AND tenant = ? AND within = ? AND id = ?`
    const row = prepare(one).get(kind, tenant, group, id)
    return row === undefined ? 'null' : String(table().verify(row)['value'])
  }
  return {
    read(query) {
      const { text, values } = selectDocuments(query)
      return prepare(text)
        .all(...values)
        .map((row) => ({
          tenant: query.tenant,
          kind: query.kind,
          group: String(row['within']),
          id: String(row['id']),
          value: parseJson(String(table().verify(row)['value'])),
        }))
    },
    change(changes) {
      for (const change of changes) {
        const { tenant, kind, group, id, value, was } = change
        const text = value === undefined ? undefined : JSON.stringify(value)
        if (was !== undefined) {
          const expected = JSON.stringify(was)
          if (textOf(change) !== expected) throw changedDocument(change)
          // It only has to be so.
          if (expected === (text ?? 'null')) continue
        }
        const names = { tenant, kind, within: group, id }
        if (text === undefined) table().remove(names)
        else table().put({ ...names, value: text })
      }
    },
  }
}

/** A query in words of the database. Its first conditions are the first columns of the primary key, so that it reads no other row. */
function selectDocuments(query: DocumentQuery): { text: string; values: (string | number)[] } {
  const { kind, tenant, group, id, after, limit, newestFirst = false } = query
  const [behind, direction] = newestFirst ? ['<', 'DESC'] : ['>', 'ASC']
  const conditions: [condition: string, ...values: string[]][] = [
    ['kind = ?', kind],
    ['tenant = ?', tenant],
  ]
  if (group !== undefined) conditions.push(['within = ?', group])
  if (id !== undefined) conditions.push(['id = ?', id])
  if (after !== undefined) conditions.push([`(within, id) ${behind} (?, ?)`, after.group, after.id])
  return {
    text:
      `SELECT ${columns} FROM documents WHERE ${conditions.map(([condition]) => condition).join(' AND ')} ` +
      `ORDER BY within ${direction}, id ${direction} LIMIT ?`,
    values: [...conditions.flatMap(([, ...values]) => values), limit ?? -1],
  }
}
