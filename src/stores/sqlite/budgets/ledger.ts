import type { DatabaseSync } from 'node:sqlite'
import { ToolFailure } from '../../../contract/base/errors.ts'
import { linkText } from '../../../kit/json/digest.ts'
import { isFinding, secondFinding } from '../../refusals.ts'
import type { PreparedEntry } from '../../prepare-entry.ts'
import type { SealedWrites } from '../seals/sealed-writes.ts'
import type { Writers } from '../base/writers.ts'
import { recordText } from '../packs/record-sql.ts'

/** Writes entries to the end of their tenants' chains. */
export interface Ledger {
  /** Writes all entries in this order, and what `alongside` writes, in one transaction, or none of it. */
  write(entries: readonly PreparedEntry[], alongside: () => void): void
  /** Position of the oldest call that this process began and did not end. */
  firstOpen(): number | undefined
  /** How many calls this process began and did not end. */
  countOpen(): number
  /** Writes what says nothing new, to find out whether the file takes anything. */
  probe(): void
}

export interface LedgerOptions {
  db: DatabaseSync
  writers: Writers
  writes: SealedWrites
  /** Id of this process, which is registered as a writer with its first record. */
  own: string
}

/** So many records after the last time, the place where a recovery starts to look is moved. */
const recordsPerMove = 1000

/** A ledger over an open database. */
export function createLedger({ db, writers, writes, own }: LedgerOptions): Ledger {
  const { heads, sums } = writes
  /** Begun here and not ended, with their positions, oldest first. */
  const open = new Map<string, number>()
  let sinceMove = 0
  const insert = db.prepare('INSERT INTO records (tenant, sequence, text, hash, body) VALUES (?, ?, ?, ?, ?)')
  const countOf = db.prepare(
    "SELECT (SELECT count(*) FROM records WHERE call = :call AND tenant = :tenant AND kind <> 'end' AND kind = 'begin') " +
      "AS begins, (SELECT count(*) FROM records WHERE call = :call AND tenant = :tenant AND kind = 'end') AS ends",
  )
  const findingsOf = db.prepare(
    "SELECT count(*) AS findings FROM records WHERE call = ? AND tenant = ? AND kind <> 'end' AND kind = 'note' " +
      `AND json_extract(${recordText}, '$.event') = 'outcome_resolved'`,
  )
  /** Of the record that is written right now. */
  const hash = Buffer.alloc(32)
  const nextPosition = db.prepare('SELECT coalesce(max(position), 0) + 1 AS next FROM records')

  const refuseStrayEnd = ({ record, call }: PreparedEntry): void => {
    const row = countOf.get({ call, tenant: record.tenant })
    if (row?.['begins'] === 0) throw strayEnd(call, 'has no begin')
    if (row?.['ends'] !== 0) throw strayEnd(call, 'has ended already')
  }

  const refuseSecondFinding = ({ record, call }: PreparedEntry): void => {
    if (findingsOf.get(call, record.tenant)?.['findings'] !== 0) throw secondFinding(call)
  }

  const insertAll = (
    entries: readonly PreparedEntry[],
  ): { begun: Map<string, number>; tenants: Set<string> } => {
    const begun = new Map<string, number>()
    const tenants = new Set<string>()
    for (const entry of entries) {
      const { record, call, body } = entry
      if (record.kind === 'end' && !open.has(call) && !begun.has(call)) refuseStrayEnd(entry)
      if (isFinding(record)) refuseSecondFinding(entry)
      const head = heads.get(record.tenant)
      tenants.add(record.tenant)
      head.sequence += 1
      const linked = linkText(head.hash, entry.text)
      head.hash = linked.hash
      if (body === null && hasBody(record)) head.bodiless += 1
      hash.write(head.hash, 'hex')
      const { lastInsertRowid } = insert.run(record.tenant, head.sequence, linked.text, hash, body)
      // A begin of another store, which is imported, ends there.
      if (record.kind === 'begin' && record.writer === own) begun.set(call, Number(lastInsertRowid))
    }
    return { begun, tenants }
  }

  const firstOpen = (): number | undefined => open.values().next().value
  const moveFirstOpen = (): void => {
    writers.moveFirstOpen(firstOpen() ?? Number(nextPosition.get()?.['next']))
    sinceMove = 0
  }
  return {
    write(entries, alongside) {
      const begun = writers.write(() => {
        if (sinceMove >= recordsPerMove) moveFirstOpen()
        const inserted = insertAll(entries)
        alongside()
        heads.write(inserted.tenants, sums.generation())
        return inserted.begun
      })
      sinceMove += entries.length
      for (const [call, position] of begun) open.set(call, position)
      for (const entry of entries) if (entry.record.kind === 'end') open.delete(entry.call)
    },
    firstOpen,
    countOpen: () => open.size,
    probe: () => writers.write(moveFirstOpen),
  }
}

/** Whether a record has a body until it is pruned. */
function hasBody(record: PreparedEntry['record']): boolean {
  return record.kind === 'end' || (record.kind === 'begin' && record.input !== '')
}

function strayEnd(call: string, why: string): ToolFailure {
  return new ToolFailure({
    code: 'PROVIDER.UNAVAILABLE',
    reason: 'store_failed',
    message: `The end of the call "${call}" is not recorded: the call ${why}.`,
  })
}
