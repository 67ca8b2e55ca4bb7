import type { DatabaseSync } from 'node:sqlite'
import { Tampered } from './tampered.ts'
import { newSecret } from '../../keyed-digest.ts'

/** The secret of this file, made where it has none. Several processes may ask at once: all get the same. */
export function readSecret(db: DatabaseSync): Uint8Array {
  const find = db.prepare("SELECT value FROM secrets WHERE name = 'digest'")
  let row = find.get()
  if (row === undefined) {
    db.prepare("INSERT INTO secrets (name, value) VALUES ('digest', ?) ON CONFLICT DO NOTHING").run(
      newSecret(),
    )
    row = find.get()
  }
  const value = row?.['value']
  if (value instanceof Uint8Array) return value
  throw new Tampered('its secret for digests is not there')
}
