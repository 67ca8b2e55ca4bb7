import type { KeyObject } from 'node:crypto'
import type { ChainIssue, CheckpointRecord, StoredRecord, Verification } from '../../contract/evidence.ts'
import { isSigned } from './checkpoint.ts'
import type { RecentHashes } from './recent-hashes.ts'
import { toIssue } from './to-issue.ts'
import { parseRecord } from './parse-record.ts'

/** Public keys by their ids. */
export type KnownKeys = ReadonlyMap<string, KeyObject>

/** Which records of a chain are covered by signatures. */
export interface Coverage {
  /** Takes the next checkpoint; the records before it were passed already. */
  add(record: StoredRecord): ChainIssue | undefined
  /** What is covered of so many records up to this sequence. */
  sum(passed: { records: number; reached: number }): NonNullable<Verification['signed']>
}

/** Nothing is covered yet. Without keys, checkpoints are held against the chain, and their signatures say nothing. */
export function createCoverage(keys: KnownKeys | undefined, recent: RecentHashes): Coverage {
  const used = new Set<string>()
  /** Checkpoints that stand behind the last record that is covered; each is signed by itself. */
  let later: number[] = []
  let covered = 0

  return {
    add(stored) {
      // Verified against its columns already.
      const checkpoint = parseRecord(stored.text) as CheckpointRecord | undefined
      const problem = checkpoint === undefined ? 'is not a record' : findProblem(checkpoint, stored)
      if (checkpoint === undefined || problem !== undefined)
        return toIssue(stored, 'bad_signature', `The checkpoint ${stored.sequence} ${problem}.`)
      if (keys === undefined) return undefined
      used.add(checkpoint.key)
      covered = Math.max(covered, checkpoint.sequence)
      later = [...later, stored.sequence].filter((sequence) => sequence > covered)
      return undefined
    },
    sum({ records, reached }) {
      const pending = keys === undefined ? records : Math.min(records, reached - covered - later.length)
      return { records: records - pending, pending, keys: [...used].sort() }
    },
  }

  function findProblem(
    checkpoint: CheckpointRecord,
    { sequence, tenant, text }: StoredRecord,
  ): string | undefined {
    const { sequence: last, hash, key: id } = checkpoint
    if (!Number.isSafeInteger(last) || last < 1 || last >= sequence)
      return `says that it covers the record ${String(last)}, which does not stand before it`
    const found = recent.get(last)
    if (found !== undefined && found !== hash)
      return `covers another record ${last} of "${tenant}" than the one that is there: a record up to that one was changed`
    if (keys === undefined) return undefined
    const key = keys.get(id)
    if (key === undefined) return `is signed with the key "${String(id)}", which is not known here`
    return isSigned(text, checkpoint, key)
      ? undefined
      : `does not have the signature of the key "${id}": it was changed, or another party made it`
  }
}
