import type { Changes, Entry } from '../../contract/store.ts'
import { prepareEntry, type PreparedEntry } from '../prepare-entry.ts'

/** Collects what callers append in one turn of the event loop and writes it in one transaction. */
export interface GroupCommit {
  append(entries: readonly Entry[], changes?: Changes): Promise<void>
  /** Writes now what is waiting. Its callers hear of it in the usual way. */
  flush(): void
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
  /** Whether a failure would hit every append of the group alike, such as a full disk. */
  hitsAll: (error: unknown) => boolean
  /** Told for each append that is rejected; gives the error its caller sees. */
  lost: (entries: readonly PreparedEntry[], error: unknown) => Error
}

/** A group commit. An append that fails by itself is rejected alone; the others of its group are written. */
export function createGroupCommit({ write, hitsAll, lost }: GroupWriting): GroupCommit {
  let waiting: Waiting[] = []
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
    for (const one of group) one.resolve()
  }
  const flush = (): void => {
    clearImmediate(timer)
    timer = undefined
    const group = waiting
    waiting = []
    if (group.length > 0) writeGroup(group)
  }
  return {
    append(entries, changes) {
      return new Promise((resolve, rejectAppend) => {
        waiting.push({ entries: entries.map(prepareEntry), changes, resolve, reject: rejectAppend })
        timer ??= setImmediate(flush)
      })
    },
    flush,
  }
}
