import type { CheckpointRecord } from '../../contract/evidence.ts'
import type { Store } from '../../contract/store.ts'
import { signCheckpoint } from './checkpoint.ts'
import { findSetBackOf } from './examine-keys.ts'
import type { KeyFiles } from './key-files.ts'
import type { SigningKey } from './signing-key.ts'

interface Signing {
  store: Store
  keys: KeyFiles
  tenant: string
  /** Milliseconds since the epoch. */
  at: number
  /** Default: the key that signs now. */
  key?: SigningKey
}

/**
 * Signs the chain of a tenant up to its present end. Throws, and signs nothing, if the chain no longer holds what was signed
 * before: a signature must not vouch for what was put in its place.
 */
export async function addCheckpoint({ store, keys, tenant, at, key }: Signing): Promise<CheckpointRecord> {
  const head = store.head(tenant)
  if (head === undefined) throw new Error(`The tenant "${tenant}" has no records to sign.`)
  const setBack = store.durable ? findSetBackOf(store, keys, tenant) : undefined
  if (setBack !== undefined) throw new Error(setBack)
  const checkpoint = await signCheckpoint(key ?? keys.signingKey(), { tenant, ...head }, at)
  await store.append([{ record: checkpoint, body: null }])
  if (store.durable) keys.remember(checkpoint)
  return checkpoint
}
