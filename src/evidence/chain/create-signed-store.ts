import { ToolFailure } from '../../contract/base/errors.ts'
import type { Store } from '../../contract/store.ts'
import { takesRecords } from '../../kit/takes-records.ts'
import { addCheckpoint } from './add-checkpoint.ts'
import { findLosses, findSetBack } from './examine-keys.ts'
import { introduceKey } from './introduce-key.ts'
import type { KeyFiles } from './key-files.ts'
import { messageOf } from '../../kit/text/message-of.ts'

export interface SigningOptions {
  keys: KeyFiles
  /** Milliseconds since the epoch. */
  now: () => number
  /** Told when a checkpoint could not be made; the records stay, and a later one covers them. */
  onError: (error: unknown) => void
  /** Records of a tenant between two checkpoints. Default 1,000. */
  every?: number
  /** A record is signed after so many milliseconds at the latest, while its process lives. Default a minute. */
  everyMs?: number
}

/**
 * The store, with checkpoints: every chain that grows through it is signed every so many records, every so often, behind the calls, and once
 * more when it is closed. The key is the one that signs at that time. A store that no longer holds what was signed before takes no records.
 */
export function createSignedStore(
  store: Store,
  { keys, now, onError, every = 1000, everyMs = 60_000 }: SigningOptions,
): Store {
  if (store.readOnly !== undefined) return store
  const setBack = findSetBack(store, keys)
  if (setBack !== undefined) return refuseWrites(store, setBack)
  /** Records of each tenant since its last checkpoint. */
  const grown = new Map<string, number>()
  let signing: Promise<void> = Promise.resolve()
  let timer: NodeJS.Timeout | undefined
  let closed = false

  for (const { message, tenants } of findLosses(store, keys)) {
    onError(new Error(message))
    for (const tenant of tenants) grown.set(tenant, 0)
  }

  const signLater = (tenant: string): void => {
    if (closed) return
    grown.set(tenant, grown.get(tenant) ?? 0)
    timer ??= setTimeout(scheduleAll, everyMs).unref()
  }
  const sign = async (tenant: string): Promise<void> => {
    try {
      // The store writes in order, so everything that was counted is written with this.
      await store.append([])
      const at = now()
      await introduceKey({ store, keys, tenant, at })
      await addCheckpoint({ store, keys, tenant, at })
    } catch (error) {
      // A store that takes no records has told why.
      if (!takesRecords(store)) return signLater(tenant)
      const why = messageOf(error)
      onError(new Error(`The records of "${tenant}" are not signed. ${why}`))
    }
  }
  const schedule = (tenant: string): void => {
    if (grown.delete(tenant)) signing = signing.then(() => sign(tenant))
  }
  const scheduleAll = (): void => {
    clearTimeout(timer)
    timer = undefined
    for (const tenant of grown.keys()) schedule(tenant)
  }
  const count = (tenant: string): void => {
    const records = (grown.get(tenant) ?? 0) + 1
    grown.set(tenant, records)
    timer ??= setTimeout(scheduleAll, everyMs).unref()
    // The caller that hands this record over does not wait for the signing.
    if (records === every) setImmediate(schedule, tenant)
  }
  // Assigned, because what is spread is copied, and `readOnly` may change.
  return Object.assign(delegateTo(store), {
    append: (entries, changes) => {
      for (const { record } of entries) count(record.tenant)
      return store.append(entries, changes)
    },
    close: async () => {
      closed = true
      scheduleAll()
      await signing
      await store.close()
    },
  } satisfies Pick<Store, 'append' | 'close'>)
}

/** The store, to be read only. */
function refuseWrites(store: Store, message: string): Store {
  const refusal = (): ToolFailure =>
    new ToolFailure({ code: 'PROVIDER.UNAVAILABLE', reason: 'store_read_only', message })
  const refuse = (): never => {
    throw refusal()
  }
  return {
    ...delegateTo(store),
    readOnly: message,
    trouble: 'it was set back or replaced',
    append: (entries, changes) =>
      // Nothing is lost by writing nothing.
      entries.length === 0 && changes === undefined ? Promise.resolve() : Promise.reject(refusal()),
    claimKey: refuse,
    reserve: refuse,
    prune: refuse,
    close: () => store.close(),
  }
}

/** Method by method: a store of the host's own may be an instance of a class. */
function delegateTo(store: Store): Omit<Store, 'append' | 'close'> {
  return {
    description: store.description,
    writer: store.writer,
    durable: store.durable,
    get readOnly() {
      return store.readOnly
    },
    get trouble() {
      return store.trouble
    },
    records: (query) => store.records(query),
    countEnds: (query) => store.countEnds(query),
    tenants: () => store.tenants(),
    head: (tenant) => store.head(tenant),
    examine: () => store.examine(),
    digest: (text) => store.digest(text),
    lives: (writer) => store.lives(writer),
    orphans: () => store.orphans(),
    findKey: (use) => store.findKey(use),
    claimKey: (use) => store.claimKey(use),
    facts: (kind, tenant) => store.facts(kind, tenant),
    factsVersion: () => store.factsVersion(),
    documents: (query) => store.documents(query),
    factsSince: (kind, version) => store.factsSince(kind, version),
    reserve: (request) => store.reserve(request),
    refund: (call) => store.refund(call),
    balance: (account, at) => store.balance(account, at),
    countPrunable: (before) => store.countPrunable(before),
    prune: (before) => store.prune(before),
  }
}
