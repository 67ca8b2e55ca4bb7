import type { CheckpointRecord } from '../contract/evidence.ts'
import type { Store } from '../contract/store.ts'
import { signCheckpoint } from './checkpoint.ts'
import type { KeyFiles } from './key-files.ts'
import type { SigningKey } from './signing-key.ts'

export interface CheckpointOptions {
  store: Store
  keys: KeyFiles
  /** Milliseconds since the epoch. */
  now: () => number
  /** Told when a checkpoint could not be made; the records stay, and the next one covers them. */
  onError: (error: unknown) => void
  /** Records of a tenant between two checkpoints. Default 1,000. */
  every?: number
}

/** Signs the chains of the tenants this process writes to, now and then, behind the calls. */
export interface Checkpoints {
  /** Counts a record on its way into the store. */
  count(tenant: string): void
  /** Signs every chain that grew since its last checkpoint. Call it when everything else is written. */
  close(): Promise<void>
}

/** Checkpoints with the key that is the signing one at their time. */
export function createCheckpoints({
  store,
  keys,
  now,
  onError,
  every = 1000,
}: CheckpointOptions): Checkpoints {
  const grown = new Map<string, number>()
  let signing: Promise<void> = Promise.resolve()

  const signTenant = async (tenant: string): Promise<void> => {
    try {
      // The store writes in order, so everything that was counted is written with this.
      await store.append([])
      await addCheckpoint({ store, keys, tenant, at: now() })
    } catch (error) {
      onError(error)
    }
  }
  const schedule = (tenant: string): void => {
    if (grown.delete(tenant)) signing = signing.then(() => signTenant(tenant))
  }
  return {
    count(tenant) {
      const records = (grown.get(tenant) ?? 0) + 1
      grown.set(tenant, records)
      // The call that hands this record over does not wait for it.
      if (records === every) setImmediate(schedule, tenant)
    },
    async close() {
      for (const tenant of grown.keys()) schedule(tenant)
      await signing
    },
  }
}

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
  refuseReplaced({ store, keys, tenant, at })
  const checkpoint = await signCheckpoint(key ?? keys.signingKey(), { tenant, ...head }, at)
  await store.append([{ record: checkpoint, body: null }])
  if (store.durable) keys.remember(checkpoint)
  return checkpoint
}

function refuseReplaced({ store, keys, tenant }: Signing): void {
  const anchor = keys.anchors().find((each) => each.tenant === tenant)
  if (anchor === undefined || !store.durable) return
  for (const { sequence, hash } of store.records({ tenant, after: anchor.sequence - 1, limit: 1 }))
    if (sequence === anchor.sequence && hash === anchor.hash) return
  throw new Error(
    `The records of "${tenant}" are not signed: the store no longer holds the record ${anchor.sequence} that was signed before, so it was ` +
      `replaced, set back or changed. Verify the evidence; to start a new chain, remove "${keys.anchorPath(tenant)}".`,
  )
}
