import type { DatabaseSync } from 'node:sqlite'
import type { KeyClaim, KeyHeld, KeyResolution, KeyUse } from '../../contract/store.ts'
import { digest } from '../../kit/json/digest.ts'
import { recordBody, recordText } from './packs/record-sql.ts'
import { createSealedTable, sealedTables, type Row } from './seals/sealed-table.ts'
import type { SealedWrites } from './seals/sealed-writes.ts'
import type { Writers } from './base/writers.ts'

/** Idempotency keys: who has taken one, and what became of that call. */
export interface Keys {
  /** What became of the call that has the key; undefined while it is free. */
  find(use: KeyUse): KeyHeld | undefined
  /** Takes the key for a call, or says what became of it. */
  claim(use: KeyUse): KeyClaim
  /** Says that the begin of a call was written, or that it could not be written and its key is free again. */
  settle(call: string, begun: boolean): void
  /** Says what became of a call after all. Call it inside a transaction. */
  resolve(resolution: KeyResolution): void
}

interface ClaimRow {
  call: string
  writer: string
  inputDigest: string
  expiresAt: number
  result: string | null
}

/** Every so many claims, so many expired keys are removed at most. */
const claimsPerSweep = 16
const keysPerSweep = 64

export interface KeysOptions {
  db: DatabaseSync
  writers: Writers
  writes: SealedWrites
  /** Id of this process among the writers. */
  own: string
}

/** The keys of this file. Throws `Tampered` for one that is asked for and was not written with the key of the store. */
export function createKeys({ db, writers, writes, own }: KeysOptions): Keys {
  const table = createSealedTable(db, writes, sealedTables.keys)
  /** Calls that took a key here and whose begin is on its way. */
  const coming = new Set<string>()
  /** Calls that took a key here and could not begin. */
  const lost = new Set<string>()
  let claims = 0
  const select =
    'SELECT tenant, tool, key, input_digest, call, writer, expires_at, result, seal FROM keys WHERE'
  const findRow = db.prepare(`${select} tenant = ? AND tool = ? AND key = ?`)
  const ofCall = db.prepare(`${select} tenant = ? AND call = ?`)
  // A key is kept as long as its call runs, or may have run in a process that left it open.
  const expired = db.prepare(
    'SELECT tenant, tool, key FROM keys WHERE expires_at <= ? AND ' +
      "(EXISTS (SELECT 1 FROM records WHERE records.call = keys.call AND records.tenant = keys.tenant AND kind = 'end') " +
      'OR writer NOT IN (SELECT id FROM writers)) ORDER BY expires_at LIMIT ?',
  )
  const findClaim = createClaimFinder(db, writers)

  const look = (use: KeyUse): { row: ClaimRow | undefined; held: KeyHeld | undefined } => {
    const found = findRow.get(use.tenant, use.tool, use.key)
    if (found === undefined) return { row: undefined, held: undefined }
    const row = toClaimRow(table.verify(found))
    const claim: KeyClaim = lost.has(row.call) ? { state: 'claimed' } : findClaim(row, use)
    if (claim.state === 'claimed') return { row, held: undefined }
    return {
      row,
      held: row.inputDigest === use.inputDigest ? claim : { state: 'conflict', call: claim.call },
    }
  }
  const takeFor = (use: KeyUse): void => {
    const { tenant, tool, key, inputDigest: input_digest, call } = use
    const expires_at = use.at + use.windowMs
    table.put({ tenant, tool, key, input_digest, call, writer: own, expires_at, result: null })
  }
  return {
    find: (use) => look(use).held,
    claim(use) {
      // The begin that follows a claim is synced after it in the same log, so the claim needs no sync of its own.
      return writers.write(() => {
        const { row, held } = look(use)
        if (held !== undefined) return held
        if (++claims % claimsPerSweep === 0)
          for (const row of expired.all(use.at, keysPerSweep)) table.remove(row)
        takeFor(use)
        coming.add(use.call)
        if (row !== undefined) lost.delete(row.call)
        return { state: 'claimed' }
      })
    },
    settle(call, begun) {
      if (coming.delete(call) && !begun) lost.add(call)
    },
    resolve({ tenant, call, outcome, result }) {
      for (const row of ofCall.all(tenant, call).map((found) => table.verify(found)))
        if (outcome === 'happened') table.put({ ...row, result })
        else table.remove(row)
    },
  }
}

/** Finds out what became of a call that took a key: `claimed` means that the key is free. */
function createClaimFinder(db: DatabaseSync, writers: Writers): (row: ClaimRow, use: KeyUse) => KeyClaim {
  const findEnd = db.prepare(
    `SELECT ${recordBody} AS body, json_extract(${recordText}, '$.outcome') AS outcome, ` +
      `json_extract(${recordText}, '$.result') AS digest FROM records ` +
      "WHERE call = ? AND tenant = ? AND kind = 'end'",
  )
  const findBegin = db.prepare(
    `SELECT ${recordText} AS text, ${recordBody} AS body FROM records ` +
      "WHERE call = ? AND tenant = ? AND kind <> 'end' AND kind = 'begin'",
  )
  return ({ call, writer, expiresAt, result: resolved }, use) => {
    const end = findEnd.get(call, use.tenant)
    const isOpen = end === undefined && resolved === null
    if (isOpen && writers.lives(writer)) return { state: 'running', call }
    if (expiresAt <= use.at) return { state: 'claimed' }
    const begin = findBegin.get(call, use.tenant)
    // A begin is durable before its effect, so without one nothing has happened.
    if (isOpen && begin === undefined) return { state: 'claimed' }
    const result = resolved ?? keptResult(end)
    if (begin === undefined || typeof result !== 'string') return { state: 'unknown', call }
    return {
      state: 'ended',
      call,
      begin: { text: String(begin['text']), body: textOf(begin['body']) },
      result,
    }
  }
}

function toClaimRow(row: Row): ClaimRow {
  return {
    call: String(row['call']),
    writer: String(row['writer']),
    inputDigest: String(row['input_digest']),
    expiresAt: Number(row['expires_at']),
    result: textOf(row['result']),
  }
}

/** The result of a call that ended; null if it is not known, or not the one that was written. */
function keptResult(end: Record<string, unknown> | undefined): string | null {
  const body = end === undefined || end['outcome'] === 'unknown' ? null : textOf(end['body'])
  return body === null || digest(body) !== end?.['digest'] ? null : body
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}
