import type { StoredRecord } from '../../contract/evidence.ts'
import { linkText } from '../../kit/json/digest.ts'
import type { PreparedEntry } from '../prepare-entry.ts'

/** The last records of one tenant, chained. */
export interface MemoryChain {
  append(entry: PreparedEntry): void
  /** What is kept behind this sequence number, oldest or newest first. Costs as much as what is there, whatever is before it. */
  records(after: number, newestFirst: boolean): IterableIterator<StoredRecord>
  head(): { sequence: number; hash: string }
  /** Removes the bodies of the records that this picks. Returns their number. */
  prune(picks: (record: StoredRecord) => boolean): number
}

/** An empty chain that keeps at most so many records, with so many characters of text and bodies. */
export function createMemoryChain(bounds: {
  tenant: string
  maxRecords: number
  maxCharacters: number
}): MemoryChain {
  const { tenant, maxRecords, maxCharacters } = bounds
  let kept: StoredRecord[] = []
  /** So many at the start of `kept` are dropped; they are cut off now and then, all at once. */
  let dropped = 0
  let characters = 0
  let sequence = 0
  let hash = ''

  const dropOldest = (): void => {
    while (kept.length - dropped > 1 && (kept.length - dropped > maxRecords || characters > maxCharacters)) {
      const oldest = kept[dropped++]
      if (oldest !== undefined) characters -= sizeOf(oldest)
    }
    if (dropped <= maxRecords) return
    kept = kept.slice(dropped)
    dropped = 0
  }
  return {
    append({ record, call, text, body }) {
      const linked = linkText(hash, text)
      hash = linked.hash
      const stored = {
        tenant,
        sequence: ++sequence,
        kind: record.kind,
        session: record.session,
        call,
        text: linked.text,
        hash,
        body,
      }
      kept.push(stored)
      characters += sizeOf(stored)
      dropOldest()
    },
    *records(after, newestFirst) {
      // Numbers follow each other without a gap, up to that of the last one.
      const behind = Math.max(0, sequence - after)
      const now = kept.slice(Math.max(dropped, kept.length - behind))
      yield* newestFirst ? now.reverse() : now
    },
    head: () => ({ sequence, hash }),
    prune(picks) {
      let pruned = 0
      for (const [index, record] of kept.entries()) {
        if (index < dropped || record.body === null || !picks(record)) continue
        characters -= record.body.length
        // What a reader holds is not changed under its hands.
        kept[index] = { ...record, body: null }
        pruned++
      }
      return pruned
    },
  }
}

function sizeOf(record: StoredRecord): number {
  return record.text.length + (record.body?.length ?? 0)
}
