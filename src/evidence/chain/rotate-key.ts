import type { Store } from '../../contract/store.ts'
import { addCheckpoint } from './add-checkpoint.ts'
import type { KeyFiles } from './key-files.ts'
import { generateSigningKey, toKeyText } from './signing-key.ts'

export interface KeyRotation {
  store: Store
  keys: KeyFiles
  /** Milliseconds since the epoch. */
  at: number
  actor: string
}

/**
 * Makes a new signing key. Every tenant gets a note with the new public key, and a checkpoint over that note by the old key, so that
 * who trusts the old one can trust the new one. The old private key is gone then; its signatures hold for ever.
 */
export async function rotateKey({
  store,
  keys,
  at,
  actor,
}: KeyRotation): Promise<{ old: string; new: string }> {
  const old = keys.signingKey()
  const next = generateSigningKey()
  const data = { old: old.id, new: next.id, publicKey: toKeyText(next.publicKey) }
  for (const tenant of store.tenants()) {
    const message = `The signing key ${old.id} was replaced by ${next.id}.`
    const note = {
      kind: 'note',
      event: 'key_rotated',
      tenant,
      session: '',
      at,
      message,
      actor,
      data,
    } as const
    await store.append([{ record: note, body: null }])
    await addCheckpoint({ store, keys, tenant, at, key: old })
  }
  keys.install(next)
  return { old: old.id, new: next.id }
}
