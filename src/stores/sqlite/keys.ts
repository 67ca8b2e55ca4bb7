import type { DatabaseSync } from 'node:sqlite'
import type { KeyClaim, KeyHeld, KeyResolution, KeyUse } from '../../contract/store.ts'
import type { Writers } from './writers.ts'

/** Idempotency keys: who has taken one, and what became of that call. */
export interface Keys {
  /** What became of the call that has the key; undefined while it is free. */
  find(use: KeyUse): KeyHeld | undefined
  /** Takes the key for a call, or says what became of it. */
  claim(use: KeyUse): KeyClaim
  /** Says that the begin of a call was written, or that it could not be written and its key is free again. */
  settle(call: string, begun: boolean): void
  /** Takes the key for a call that has ended, unless another call has it. Call it inside a transaction. */
  keep(use: KeyUse): void
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

/** The keys of this file; `own` is the id of this process among its writers. */
export function createKeys(db: DatabaseSync, writers: Writers, own: string): Keys {
  /** Calls that took a key here and whose begin is on its way. */
  const coming = new Set<string>()
  /** Calls that took a key here and could not begin. */
  const lost = new Set<string>()
  let claims = 0
  const findRow = db.prepare(
    'SELECT call, writer, input_digest AS inputDigest, expires_at AS expiresAt, result FROM keys ' +
      'WHERE tenant = ? AND tool = ? AND key = ?',
  )
  const take = db.prepare(
    'INSERT INTO keys (tenant, tool, key, input_digest, call, writer, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?) ' +
      'ON CONFLICT (tenant, tool, key) DO UPDATE SET input_digest = excluded.input_digest, call = excluded.call, ' +
      'writer = excluded.writer, expires_at = excluded.expires_at, result = NULL',
  )
  // A key is kept as long as its call runs, or may have run in a process that left it open.
  const removeExpired = db.prepare(
    'DELETE FROM keys WHERE (tenant, tool, key) IN (SELECT tenant, tool, key FROM keys WHERE expires_at <= ? AND ' +
      "(EXISTS (SELECT 1 FROM records WHERE records.call = keys.call AND records.tenant = keys.tenant AND kind = 'end') " +
      'OR writer NOT IN (SELECT id FROM writers)) ORDER BY expires_at LIMIT ?)',
  )
  const answer = db.prepare('UPDATE keys SET result = ? WHERE tenant = ? AND call = ?')
  const free = db.prepare('DELETE FROM keys WHERE tenant = ? AND call = ?')
  const findEnd = db.prepare(
    "SELECT body, json_extract(text, '$.outcome') AS outcome FROM records " +
      "WHERE call = ? AND tenant = ? AND kind = 'end'",
  )
  const findBegin = db.prepare(
    "SELECT 1 FROM records WHERE call = ? AND tenant = ? AND kind <> 'end' AND kind = 'begin'",
  )

  /** What became of the call that has the key. */
  const fate = (row: ClaimRow, use: KeyUse): KeyClaim => {
    const { call } = row
    if (lost.has(call)) return { state: 'claimed' }
    const expired = row.expiresAt <= use.at
    const end = findEnd.get(call, use.tenant)
    if (end === undefined && row.result === null) {
      if (writers.lives(row.writer)) return { state: 'running', call }
      // A begin is durable before its effect, so without one nothing has happened.
      if (findBegin.get(call, use.tenant) === undefined) return { state: 'claimed' }
    }
    if (expired) return { state: 'claimed' }
    if (row.result !== null) return { state: 'ended', call, result: row.result }
    if (end === undefined || end['outcome'] === 'unknown' || end['body'] === null)
      return { state: 'unknown', call }
    return { state: 'ended', call, result: String(end['body']) }
  }
  const look = (use: KeyUse): { row: ClaimRow | undefined; held: KeyHeld | undefined } => {
    const found = findRow.get(use.tenant, use.tool, use.key)
    if (found === undefined) return { row: undefined, held: undefined }
    const row = toClaimRow(found)
    const claim = fate(row, use)
    if (claim.state === 'claimed') return { row, held: undefined }
    return {
      row,
      held: row.inputDigest === use.inputDigest ? claim : { state: 'conflict', call: claim.call },
    }
  }
  const takeFor = (use: KeyUse): void => {
    take.run(use.tenant, use.tool, use.key, use.inputDigest, use.call, own, use.at + use.windowMs)
  }
  return {
    find: (use) => look(use).held,
    claim(use) {
      // The begin that follows a claim is synced after it in the same log, so the claim needs no sync of its own.
      return writers.write(() => {
        const { row, held } = look(use)
        if (held !== undefined) return held
        if (++claims % claimsPerSweep === 0) removeExpired.run(use.at, keysPerSweep)
        takeFor(use)
        coming.add(use.call)
        if (row !== undefined) lost.delete(row.call)
        return { state: 'claimed' }
      })
    },
    settle(call, begun) {
      if (coming.delete(call) && !begun) lost.add(call)
    },
    keep(use) {
      if (look(use).held === undefined) takeFor(use)
    },
    resolve({ tenant, call, outcome, result }) {
      if (outcome === 'happened') answer.run(result, tenant, call)
      else free.run(tenant, call)
    },
  }
}

function toClaimRow(row: Record<string, unknown>): ClaimRow {
  return {
    call: String(row['call']),
    writer: String(row['writer']),
    inputDigest: String(row['inputDigest']),
    expiresAt: Number(row['expiresAt']),
    result: typeof row['result'] === 'string' ? row['result'] : null,
  }
}
