import type { NoteRecord } from '../contract/evidence.ts'
import type { BeginEntry, Evidence } from '../contract/evidence-log.ts'
import type { Changes, Entry, Store } from '../contract/store.ts'
import { isFactChanged } from '../kit/result/is-fact-changed.ts'
import type { RunArchive } from './archive/create-run-archive.ts'
import { closeOrphans } from './close-orphans.ts'
import { createPersistentWrites } from './persistent-writes.ts'

export interface EvidenceOptions {
  store: Store
  /** Told of every call once its end is durable. */
  archive?: RunArchive
  /** Milliseconds since the epoch. */
  now: () => number
}

/** Evidence that can close what an earlier process left open. */
export interface RecoverableEvidence extends Evidence {
  /** Ends every call that a dead process left open as `unknown`. Returns their number. Do it once, at the start. */
  recover(): Promise<number>
}

/** Evidence over a store. Closing it makes everything durable and closes the archive, not the store. */
export function createEvidence({ store, archive, now }: EvidenceOptions): RecoverableEvidence {
  /** Begins of running calls, kept for the archive alone. */
  const running = new Map<string, BeginEntry>()
  /** Lazy begins that were not written, until their end says so. */
  const unwritten = new Map<string, unknown>()
  const lazy = createLazyWrites(store)
  const persistent = createPersistentWrites(store)

  const remember = (begin: BeginEntry): void => {
    if (archive !== undefined) running.set(begin.record.call, begin)
  }
  const endWith = async (...[records, result, changes]: Parameters<Evidence['end']>): Promise<void> => {
    for (const entry of records) if (isBegin(entry)) remember(entry)
    const begin = running.get(result.callId)
    running.delete(result.callId)
    const written = (): void => {
      if (archive === undefined || begin === undefined) return
      for (const { record } of records) if (record.kind === 'end') archive.ended(begin, record, result)
    }
    try {
      await store.append(records, changes)
    } catch (error) {
      const lost = unwritten.get(result.callId)
      // Without a begin in the store there is nothing to end.
      // What is expected of a fact is not so any more: the caller writes its end without that.
      if (isFactChanged(error)) {
        if (begin !== undefined) running.set(result.callId, begin)
        throw error
      }
      const isOpen = lost === undefined && records.every(({ record }) => record.kind !== 'begin')
      if (isOpen) persistent.keep({ entries: records, changes, written })
      else keepChanges(changes)
      throw lost ?? error
    } finally {
      unwritten.delete(result.callId)
    }
    written()
  }
  /** What a call spent is owed, whether it was recorded or not. */
  const keepChanges = (changes: Changes | undefined): void => {
    if (changes !== undefined) persistent.keep({ entries: [], changes, written: () => {} })
  }
  return {
    writer: store.writer,
    async begin(begin, changes) {
      remember(begin)
      return store.append([begin], changes)
    },
    async endObserved(begin, end, result) {
      running.delete(begin.record.call)
      await store.append([end])
      archive?.ended(begin, end.record, result)
    },
    beginLazily(begin) {
      remember(begin)
      lazy.append(begin, (error) => unwritten.set(begin.record.call, error))
    },
    end(records, result, changes) {
      // A durable store may still refuse a lazy begin that waits beside this end; memory has answered already.
      if (archive === undefined && !store.durable && unwritten.size === 0) {
        return store.append(records, changes)
      }
      return endWith(records, result, changes)
    },
    note: (record: NoteRecord) => lazy.append({ record, body: null }),
    tell: async (record, changes) => store.append([{ record, body: null }], changes),
    async endLate(record, changes) {
      const entries = [{ record, body: null }]
      try {
        await store.append(entries, changes)
      } catch (error) {
        persistent.keep({ entries, changes, written: () => {} })
        throw error
      }
    },
    flush: () => lazy.flush(),
    close: () => finish(persistent, lazy, archive),
    // A store that takes no records leaves them as they are, for the operator who mends it.
    recover: async () =>
      store.readOnly === undefined
        ? closeOrphans({ store, now, ...(archive !== undefined && { archive }) })
        : 0,
  }
}

async function finish(
  persistent: ReturnType<typeof createPersistentWrites>,
  lazy: ReturnType<typeof createLazyWrites>,
  archive: RunArchive | undefined,
): Promise<void> {
  try {
    const open = await persistent.finish()
    await lazy.flush()
    if (open > 0) throw new Error(describeOpen(open))
  } finally {
    await archive?.close()
  }
}

/** Writes that no caller waits for. The next flush reports their failure. */
function createLazyWrites(store: Store) {
  let last: Promise<void> = Promise.resolve()
  let failure: { error: unknown } | undefined
  return {
    append(entry: Entry, onFailure?: (error: unknown) => void): void {
      const appending = store.append([entry])
      if (appending === undefined) return
      last = appending.catch((error: unknown) => {
        failure ??= { error }
        onFailure?.(error)
      })
    },
    async flush(): Promise<void> {
      // The store writes in order, so everything before this is written with it.
      await store.append([])
      await last
      const failed = failure
      failure = undefined
      if (failed !== undefined) throw failed.error
    },
  }
}

function isBegin(entry: Entry): entry is BeginEntry {
  return entry.record.kind === 'begin'
}

function describeOpen(count: number): string {
  return `The store did not take the ends of ${count} ${count === 1 ? 'call' : 'calls'}. The next start with it ends what is open as unknown.`
}
