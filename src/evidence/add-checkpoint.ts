import type { CheckpointRecord } from '../contract/evidence.ts'
import type { Store } from '../contract/store.ts'
import { signCheckpoint } from './checkpoint.ts'
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
 * Signs the chain of a tenant up to its present end. Throws, and signs nothing, where the chain no longer holds what was signed
 * before: a signature must not vouch for what somebody put in its place.
 */
export async function addCheckpoint({ store, keys, tenant, at, key }: Signing): Promise<CheckpointRecord> {
  const head = store.head(tenant)
  if (head === undefined) throw new Error(`The tenant "${tenant}" has no records to sign.`)
  if (store.durable) refuseReplaced(store, keys, tenant)
  const checkpoint = await signCheckpoint(key ?? keys.signingKey(), { tenant, ...head }, at)
  await store.append([{ record: checkpoint, body: null }])
  if (store.durable) keys.remember(checkpoint)
  return checkpoint
}

function refuseReplaced(store: Store, keys: KeyFiles, tenant: string): void {
  const anchor = keys.anchors().find((each) => each.tenant === tenant)
  if (anchor === undefined) return
  const [found] = store.records({ tenant, after: anchor.sequence - 1, limit: 1 })
  if (found?.sequence === anchor.sequence && found.hash === anchor.hash) return
  throw new Error(
    `The store no longer holds the record ${anchor.sequence} of "${tenant}" that was signed before, so it was ` +
      `replaced, set back or changed. Verify the evidence; to start a new chain, remove "${keys.anchorPath(tenant)}".`,
  )
}
