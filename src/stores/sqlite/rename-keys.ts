import type { DatabaseSync } from 'node:sqlite'
import { readRecord } from '../../kit/result/read-record.ts'
import { keyName, shortName } from '../../kit/key-name.ts'
import { splitBeginBody } from '../../kit/result/split-begin-body.ts'
import { createKeyedDigest } from '../keyed-digest.ts'
import { readSecret } from './seals/secret.ts'

/**
 * Gives the idempotency keys of a store of version 2 their names of now: digests, for the actor of their call alone. Its digests were of
 * inputs without their secrets: a call whose input had some finds its key used with another input, and is not run a second time. A key
 * whose call never began is free.
 */
export function renameKeys(db: DatabaseSync): void {
  const digest = createKeyedDigest(readSecret(db))
  const findBegin = db.prepare(
    "SELECT text, body FROM records WHERE call = ? AND tenant = ? AND kind <> 'end' AND kind = 'begin'",
  )
  const rename = db.prepare('UPDATE keys SET key = ?, input_digest = ? WHERE rowid = ?')
  const remove = db.prepare('DELETE FROM keys WHERE rowid = ?')
  const rows = db.prepare('SELECT rowid AS row, tenant, key, input_digest AS input, call FROM keys').all()
  for (const { row, tenant, key, input, call } of rows) {
    const begin = findBegin.get(String(call), String(tenant))
    if (begin === undefined) {
      remove.run(Number(row))
      continue
    }
    const { actor } = readRecord(String(begin['text']), 'begin')
    const { body } = begin
    const named = typeof body === 'string' ? shortName(digest(splitBeginBody(body).input)) : String(input)
    rename.run(keyName(actor, String(key), digest), named, Number(row))
  }
}
