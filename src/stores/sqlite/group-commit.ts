import type { Changes, Entry } from '../../contract/store.ts'
import { prepareEntry, type PreparedEntry } from '../prepare-entry.ts'

/**
 * Collects what callers append and writes it in one transaction: what comes in one turn of the event loop, or while the disk takes what was
 * written before.
 */
export interface GroupCommit {
  append(entries: readonly Entry[], changes?: Changes): Promise<void>
  /** Writes now what is waiting. Its callers hear of it in the usual way, when it is on the disk. */
  flush(): void
  /** Resolves when everything that was appended is on the disk, or its caller was told that it is not. */
  settled(): Promise<void>
}

/** What one caller appends: written as a whole or not at all. */
export interface Append {
  entries: readonly PreparedEntry[]
  changes: Changes | undefined
}

interface Waiting extends Append {
  resolve: () => void
  reject: (error: unknown) => void
}

/** How a group is written, and what its failures mean. */
export interface GroupWriting {
  write: (appends: readonly Append[]) => void
  /** Takes to the disk what was written. */
  sync: () => Promise<void>
  /** Whether a failure to write would hit every append of the group alike, such as a full disk. */
  hitsAll: (error: unknown) => boolean
  /** Told for each append that is on the disk. */
  kept: (entries: readonly PreparedEntry[]) => void
  /** Told for each append that is rejected; returns the error that its caller sees. */
  lost: (entries: readonly PreparedEntry[], error: unknown) => Error
}

/** A group commit. An append that fails by itself is rejected alone; the others of its group are written. */
export function createGroupCommit({ write, sync, hitsAll, kept, lost }: GroupWriting): GroupCommit {
  let waiting: Waiting[] = []
  let written: Waiting[] = []
  let syncing: Promise<void> | undefined
  let timer: NodeJS.Immediate | undefined

  const reject = (group: readonly Waiting[], error: unknown): void => {
    for (const one of group) one.reject(lost(one.entries, error))
  }
  const writeGroup = (group: readonly Waiting[]): void => {
    try {
      write(group)
    } catch (error) {
      if (group.length === 1 || hitsAll(error)) reject(group, error)
      else for (const one of group) writeGroup([one])
      return
    }
    written.push(...group)
  }
  const writeWaiting = (): void => {
    const group = waiting
    waiting = []
    if (group.length > 0) writeGroup(group)
  }
  const schedule = (): void => {
    if (syncing === undefined && waiting.length + written.length > 0) timer ??= setImmediate(go)
  }
  const go = (): void => {
    timer = undefined
    writeWaiting()
    const group = written
    written = []
    syncing = syncGroup(group).finally(() => {
      syncing = undefined
      schedule()
    })
  }
  const syncGroup = async (group: readonly Waiting[]): Promise<void> => {
    try {
      if (group.some(isSomething)) await sync()
    } catch (error) {
      return reject(group, error)
    }
    for (const one of group) {
      kept(one.entries)
      one.resolve()
    }
  }
  return {
    append(entries, changes) {
      return new Promise((resolve, rejectAppend) => {
        waiting.push({ entries: entries.map(prepareEntry), changes, resolve, reject: rejectAppend })
        schedule()
      })
    },
    flush() {
      writeWaiting()
      schedule()
    },
    async settled() {
      for (;;) {
        await syncing
        if (waiting.length + written.length === 0) return
        clearImmediate(timer)
        go()
      }
    },
  }
}

/** A caller that appends nothing waits for those before. */
function isSomething({ entries, changes }: Append): boolean {
  return entries.length > 0 || changes !== undefined
}
