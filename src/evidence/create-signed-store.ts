import type { Store } from '../contract/store.ts'
import { addCheckpoint } from './add-checkpoint.ts'
import type { KeyFiles } from './key-files.ts'

export interface SigningOptions {
  keys: KeyFiles
  /** Milliseconds since the epoch. */
  now: () => number
  /** Told when a checkpoint could not be made; the records stay, and a later one covers them. */
  onError: (error: unknown) => void
  /** Records of a tenant between two checkpoints. Default 1,000. */
  every?: number
}

/**
 * The store, with checkpoints: every chain that grows through it is signed every so many records, behind the calls, and once more
 * when it is closed. The key is the one that signs at that time.
 */
export function createSignedStore(store: Store, { keys, now, onError, every = 1000 }: SigningOptions): Store {
  if (store.readOnly !== undefined) return store
  /** Records of each tenant since its last checkpoint. */
  const grown = new Map<string, number>()
  let signing: Promise<void> = Promise.resolve()

  const sign = async (tenant: string): Promise<void> => {
    try {
      // The store writes in order, so everything that was counted is written with this.
      await store.append([])
      await addCheckpoint({ store, keys, tenant, at: now() })
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      onError(new Error(`The records of "${tenant}" are not signed. ${why}`))
    }
  }
  const schedule = (tenant: string): void => {
    if (grown.delete(tenant)) signing = signing.then(() => sign(tenant))
  }
  const count = (tenant: string): void => {
    const records = (grown.get(tenant) ?? 0) + 1
    grown.set(tenant, records)
    // Whoever hands this record over does not wait for it.
    if (records === every) setImmediate(schedule, tenant)
  }
  return {
    ...delegateTo(store),
    append(entries, changes) {
      for (const { record } of entries) count(record.tenant)
      return store.append(entries, changes)
    },
    async close() {
      for (const tenant of grown.keys()) schedule(tenant)
      await signing
      await store.close()
    },
  }
}

/** Method by method: a store of the host's own may be an instance of a class. */
function delegateTo(store: Store): Omit<Store, 'append' | 'close'> {
  return {
    description: store.description,
    writer: store.writer,
    durable: store.durable,
    readOnly: store.readOnly,
    records: (query) => store.records(query),
    tenants: () => store.tenants(),
    head: (tenant) => store.head(tenant),
    orphans: () => store.orphans(),
    findKey: (use) => store.findKey(use),
    claimKey: (use) => store.claimKey(use),
    facts: (kind, tenant) => store.facts(kind, tenant),
    factsVersion: () => store.factsVersion(),
    reserve: (request) => store.reserve(request),
    refund: (call) => store.refund(call),
    balance: (account, at) => store.balance(account, at),
    prune: (before) => store.prune(before),
  }
}
