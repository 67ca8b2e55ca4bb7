import type { DatabaseSync, SQLOutputValue, StatementSync } from 'node:sqlite'
import { inKnownTables } from '../base/transaction.ts'
import { withoutWaiting } from '../base/without-waiting.ts'
import { largestPack, pack, recordsPerPack } from '../packs/pack.ts'
import { packsOf } from '../packs/packed.ts'
import { stubOf } from '../packs/stub.ts'
import { toStoredRecord } from '../records/stored-record.ts'

/**
 * Packs older records: the texts and bodies of 128 of a chain, one after another, compressed together. In their rows stays
 * what the indexes need.
 */
export interface Packing {
  /** Makes one pack that is due. Returns whether it did. */
  readonly packOne: () => boolean
}

export interface PackingOptions {
  db: DatabaseSync
  /** How long writes wait for other processes. */
  busyTimeoutMs: number
  /** Whether something may be written right now. */
  mayWrite: () => boolean
}

/** So many records at the end of a chain are never packed: they are what is mostly read, and held against their hashes when a store is opened. */
export const recordsLeft = 1024

interface Due {
  tenant: string
  number: number
}

/** For the records of this file. Each pack is written in a transaction of its own. */
export function createPacking({ db, busyTimeoutMs, mayWrite }: PackingOptions): Packing {
  /** By tenant, from which pack on may be some that are due. */
  const from = new Map<string, number>()
  const packs = packsOf(db)
  let due: Due[] = []
  let prepared: ReturnType<typeof prepareStatements> | undefined
  const statements = () => (prepared ??= prepareStatements(db))
  let findDue: StatementSync | undefined
  const look = (): Due[] =>
    (findDue ??= prepareDue(db)).all().flatMap((row) => {
      const tenant = String(row['tenant'])
      const first = Math.max(Number(row['next']), from.get(tenant) ?? 0)
      const count = Math.min(packsPerLook, Number(row['until']) - first)
      return Array.from({ length: Math.max(0, count) }, (_, index) => ({ tenant, number: first + index }))
    })
  const write = ({ tenant, number }: Due): boolean => {
    const place = { tenant, after: number * recordsPerPack, until: (number + 1) * recordsPerPack }
    const { size, remove, add, put, rows } = statements()
    if (Number(size.get(place)?.['size'] ?? 0) > largestPack) return false
    const packed = rows.all(place).map(toPackable)
    if (packed.length !== recordsPerPack || !packed.every((each) => each !== undefined)) return false
    put.run(
      tenant,
      number,
      Buffer.concat(packed.map(({ hash }) => hash)),
      pack({ texts: packed.map(({ text }) => text), bodies: packed.map(({ body }) => body) }),
    )
    packs.changed(tenant, number)
    remove.run(place)
    for (const { position, sequence, stub, body } of packed)
      add.run(position, tenant, sequence, stub, body === null ? null : '')
    return true
  }
  const packNext = (): boolean => {
    if (due.length === 0) due = look()
    for (let next = due[0]; next !== undefined; next = due[0]) {
      const one = next
      const packed = withoutWaiting(db, busyTimeoutMs, () =>
        overwriting(db, () => inKnownTables(db, () => write(one))),
      )
      if (packed === undefined) return false
      // What cannot be packed now is not tried again until the next start.
      from.set(one.tenant, one.number + 1)
      due.shift()
      if (packed) return true
      if (due.length === 0) due = look()
    }
    return false
  }
  return { packOne: () => mayWrite() && !db.isTransaction && packNext() }
}

/** So many packs of a tenant are looked for at once. */
const packsPerLook = 32

function prepareDue(db: DatabaseSync): StatementSync {
  return db.prepare(
    'SELECT tenant, coalesce((SELECT max(number) FROM packs WHERE tenant = heads.tenant), -1) + 1 AS next, ' +
      `(sequence - ${recordsLeft}) / ${recordsPerPack} AS until FROM heads WHERE sequence >= ${recordsLeft + recordsPerPack}`,
  )
}

function prepareStatements(db: DatabaseSync) {
  const part =
    'FROM records INDEXED BY records_sequence WHERE tenant = :tenant AND sequence > :after AND sequence <= :until'
  return {
    size: db.prepare(`SELECT sum(octet_length(text) + ifnull(octet_length(body), 0)) AS size ${part}`),
    rows: db.prepare(
      `SELECT position, tenant, sequence, text, hash, body, packed, kind, call ${part} ORDER BY sequence`,
    ),
    put: db.prepare('INSERT INTO packs (tenant, number, hashes, value) VALUES (?, ?, ?, ?)'),
    remove: db.prepare(
      'DELETE FROM records WHERE tenant = :tenant AND sequence > :after AND sequence <= :until',
    ),
    add: db.prepare(
      "INSERT INTO records (position, tenant, sequence, text, hash, body, packed) VALUES (?, ?, ?, ?, x'', ?, 1)",
    ),
  }
}

interface Packable {
  position: number
  sequence: number
  stub: string
  text: string
  hash: Uint8Array
  body: string | null
}

/** Undefined for a row that Handrail did not write so: it stays as it is, for verification to tell of. */
function toPackable(row: Record<string, SQLOutputValue>): Packable | undefined {
  const { position, tenant, sequence, text, hash, body, packed, kind, call } = row
  const isRecord =
    typeof position === 'number' &&
    typeof sequence === 'number' &&
    typeof text === 'string' &&
    hash instanceof Uint8Array &&
    hash.length === 32 &&
    (body === null || typeof body === 'string') &&
    packed === null
  if (!isRecord) return undefined
  const record = toStoredRecord([tenant, sequence, text, '', null])
  if (record.kind !== kind || record.call !== (call ?? '')) return undefined
  return { position, sequence, stub: stubOf(record), text, hash, body }
}

/** Does work after which what it removed is overwritten, as what is pruned later must not be left in free space of the file. */
function overwriting<T>(db: DatabaseSync, work: () => T): T {
  db.exec('PRAGMA secure_delete = ON')
  try {
    return work()
  } finally {
    db.exec('PRAGMA secure_delete = FAST')
  }
}
