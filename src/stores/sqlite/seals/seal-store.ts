import type { DatabaseSync } from 'node:sqlite'
import { sealHead } from './heads.ts'
import { sealedTables, sealRow } from './sealed-table.ts'
import { xor, type Sealer } from './sealer.ts'
import { emptySums, writeSums, type StoredSums } from './sums.ts'

/** Takes over the rows of tables that had no seals. Theirs are empty, so nothing counts before it is sealed. In a transaction. */
export function moveRows(db: DatabaseSync): void {
  const move = (name: string, columns: string, added: { names: string; values: string }): void =>
    db.exec(
      `INSERT INTO ${name} (${columns}, ${added.names}) SELECT ${columns}, ${added.values} FROM unsealed_${name}; ` +
        `DROP TABLE unsealed_${name}`,
    )
  move('heads', 'tenant, sequence, hash', { names: 'bodiless, generation, seal', values: `0, 0, ''` })
  for (const { name, names, values } of [sealedTables.facts, sealedTables.keys, sealedTables.shares])
    move(name, [...names, ...values].join(', '), { names: 'seal', values: `''` })
}

/** Seals everything in a store as it is now. In a transaction. */
export function sealStore(db: DatabaseSync, sealer: Sealer, generation: number): void {
  const sums = emptySums(generation)
  sealTables(db, sealer, sums)
  writeSums(db, sealer, sums)
  countBodiless(db)
  const put = db.prepare('UPDATE heads SET generation = ?, seal = ? WHERE tenant = ?')
  for (const row of db
    .prepare('SELECT tenant, sequence, lower(hex(hash)) AS hash, bodiless FROM heads')
    .all()) {
    const tenant = String(row['tenant'])
    const head = {
      sequence: Number(row['sequence']),
      hash: String(row['hash']),
      bodiless: Number(row['bodiless']),
    }
    put.run(generation, sealHead({ ...head, tenant, generation }, sealer), tenant)
  }
}

function sealTables(db: DatabaseSync, sealer: Sealer, sums: StoredSums): void {
  for (const shape of Object.values(sealedTables)) {
    const { name, sum, names, values } = shape
    const named = names.map((column) => `${column} = ?`).join(' AND ')
    const put = db.prepare(`UPDATE ${name} SET seal = ? WHERE ${named}`)
    for (const row of db.prepare(`SELECT ${[...names, ...values].join(', ')} FROM ${name}`).all()) {
      const seal = sealRow(shape, row, sealer)
      put.run(seal, ...names.map((column) => row[column] ?? null))
      sums[sum] = xor(sums[sum], sealer.term(seal))
    }
  }
}

/** A begin without an input that fitted its tool never had a body. */
function countBodiless(db: DatabaseSync): void {
  db.exec('UPDATE heads SET bodiless = 0')
  const counts = db
    .prepare(
      `SELECT tenant, count(*) AS bodiless FROM records WHERE body IS NULL AND (kind = 'end' OR ` +
        `(kind = 'begin' AND json_extract(text, '$.input') <> '')) GROUP BY tenant`,
    )
    .all()
  const put = db.prepare('UPDATE heads SET bodiless = ? WHERE tenant = ?')
  for (const { tenant, bodiless } of counts) put.run(Number(bodiless), String(tenant))
}
