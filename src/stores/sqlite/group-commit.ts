import type { Changes, Entry } from '../../contract/store.ts'
import { prepareEntry, type PreparedEntry } from '../prepare-entry.ts'

/**
 * Collects what callers append and writes it in one transaction: what comes in one turn of the event loop, or while the disk takes what was
 * written before. What is to be answered early does not wait for the disk.
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
  /** Takes to the disk what was written: when it resolves, or at once if it returns nothing. `isAlone` says that one append waits for it. */
  sync: (isAlone: boolean) => Promise<void> | undefined
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
  let early: NodeJS.Immediate | undefined
  /** Whether something was answered that the disk may not have. */
  let owed = false

  const answer = ({ entries, resolve }: Waiting): void => {
    kept(entries)
    resolve()
  }
  const reject = (group: readonly Waiting[], error: unknown): void => {
    for (const one of group) one.reject(lost(one.entries, error))
  }
  const taken = (group: readonly Waiting[]): void => {
    for (const one of group)
      if (isEarly(one)) {
        owed = true
        answer(one)
      } else written.push(one)
  }
  const writeWaiting = (): void => {
    clearImmediate(early)
    early = undefined
    const group = waiting
    waiting = []
    if (group.length > 0) writeGroup(group, { write, hitsAll, taken, reject })
  }
  const schedule = (): void => {
    if (waiting.length + written.length === 0) return
    if (syncing === undefined) timer ??= setImmediate(go)
    else if (waiting.some(isEarly)) early ??= setImmediate(writeWaiting)
  }
  const start = (group: readonly Waiting[]): void => {
    const isOwed = owed
    owed = false
    if (!isOwed && !group.some(isSomething)) return group.forEach(answer)
    const took = () => group.forEach(answer)
    const failed = (error: unknown) => reject(group, error)
    syncing = settle(() => sync(group.length === 1), took, failed)?.finally(() => {
      syncing = undefined
      schedule()
    })
  }
  const go = (): void => {
    timer = undefined
    writeWaiting()
    const group = written
    written = []
    // What was answered early waits for what comes next.
    if (group.length > 0) start(group)
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
        clearImmediate(timer)
        if (waiting.length + written.length > 0) go()
        else if (owed) start([])
        else return
      }
    },
  }
}

/** Tells one of two how work came to its end. A promise only if that is later. */
function settle(
  work: () => Promise<void> | undefined,
  took: () => void,
  failed: (error: unknown) => void,
): Promise<void> | undefined {
  let later: Promise<void> | undefined
  try {
    later = work()
  } catch (error) {
    failed(error)
    return undefined
  }
  if (later !== undefined) return later.then(took, failed)
  took()
  return undefined
}

interface Written extends Pick<GroupWriting, 'write' | 'hitsAll'> {
  taken: (group: readonly Waiting[]) => void
  reject: (group: readonly Waiting[], error: unknown) => void
}

/** Writes a group as one, or what is left of it without those that cannot be written. */
function writeGroup(group: readonly Waiting[], to: Written): void {
  try {
    to.write(group)
  } catch (error) {
    if (group.length === 1 || to.hitsAll(error)) to.reject(group, error)
    else for (const one of group) writeGroup([one], to)
    return
  }
  to.taken(group)
}

/** Records are answered for when the disk has them. */
function isEarly({ entries, changes }: Append): boolean {
  return entries.length === 0 && changes?.early === true
}

/** A caller that appends nothing waits for those before. */
function isSomething({ entries, changes }: Append): boolean {
  return entries.length > 0 || changes !== undefined
}
