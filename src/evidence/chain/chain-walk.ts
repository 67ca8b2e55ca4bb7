import type { ChainIssue, StoredRecord, Verification } from '../../contract/evidence.ts'
import { chainLink } from '../../kit/json/digest.ts'
import { createCoverage, type KnownKeys } from './coverage.ts'
import { isBodiless } from './is-bodiless.ts'
import { createPairing } from './pairing.ts'
import { createRecentHashes } from './recent-hashes.ts'
import { toIssue } from './to-issue.ts'
import { createTextCheck } from './text-check.ts'

export interface ChainWalkOptions {
  tenant: string
  /** The record before the first one; undefined if that is not known, because those before were dropped on purpose. */
  start: { sequence: number; hash: string } | undefined
  /** Records whose hash is known from elsewhere: the head of the chain, the last one that was signed. */
  anchors: readonly { sequence: number; hash: string }[]
  /** Undefined if signatures cannot be checked. */
  keys: KnownKeys | undefined
  /** Whether the record that belongs after the hash `previous` stands further behind. */
  findMoved(record: StoredRecord, previous: string): boolean
}

/** Holds the chain of one tenant against its rules, record by record, in order. */
export interface ChainWalk {
  add(record: StoredRecord): ChainIssue | undefined
  /** Sequence of the last record, or of the one before the first. */
  reached(): number
  /** Hash of that record; empty before the first of all. */
  lastHash(): string
  records(): number
  calls(): number
  /** Calls that have ended and whose result is not there. */
  withoutResult(): number
  /** Records whose body is not there. */
  bodiless(): number
  /** Sequences of the calls that have begun and not ended. */
  open(): ReadonlyMap<string, number>
  signed(): NonNullable<Verification['signed']>
}

/** A walk that has not begun. */
export function createChainWalk(options: ChainWalkOptions): ChainWalk {
  const { tenant, start, anchors, keys } = options
  const pairing = createPairing(tenant)
  const recent = createRecentHashes()
  const coverage = createCoverage(keys, recent)
  const checkText = createTextCheck(tenant)
  let records = 0
  let withoutResult = 0
  let bodiless = 0
  let { sequence: reached, hash: lastHash } = start ?? { sequence: 0, hash: '' }
  if (reached > 0) pairing.startLate(true)

  const verifyPlace = (record: StoredRecord): ChainIssue | undefined => {
    if (records === 0 && start === undefined) {
      pairing.startLate(record.sequence > 1)
      return undefined
    }
    const expected = reached + 1
    if (record.sequence < expected)
      return toIssue(
        { tenant, sequence: expected, call: record.call },
        'reordered',
        `The record ${record.sequence} stands where ${expected} belongs: it was moved, or inserted.`,
      )
    if (record.sequence > expected)
      return toIssue(
        { tenant, sequence: expected, call: '' },
        'missing',
        `The record ${expected} is missing; ${record.sequence} follows.`,
      )
    if (chainLink(lastHash, record.text) === record.hash) return undefined
    if (options.findMoved(record, lastHash))
      return toIssue(record, 'reordered', `The record ${expected} stands at the place of another one.`)
    return toIssue(
      record,
      'changed',
      `The record ${expected} is not the one that was written: it, or the one before it, was changed, removed or inserted.`,
    )
  }
  const verifyAnchors = (record: StoredRecord): ChainIssue | undefined => {
    for (const { sequence, hash } of anchors)
      if (record.sequence === sequence && record.hash !== hash)
        return toIssue(
          record,
          'changed',
          `The record ${sequence}, or one before it, was changed together with its hash: another one is remembered in its place.`,
        )
    return undefined
  }
  return {
    add(record) {
      const issue =
        verifyPlace(record) ??
        (anchors.length === 0 ? undefined : verifyAnchors(record)) ??
        checkText(record) ??
        (record.kind === 'checkpoint' ? coverage.add(record) : pairing.add(record))
      if (issue !== undefined) return issue
      records++
      if (record.kind === 'end' && record.body === null) withoutResult++
      if (isBodiless(record)) bodiless++
      reached = record.sequence
      lastHash = record.hash
      recent.set(reached, lastHash)
      return undefined
    },
    reached: () => reached,
    lastHash: () => lastHash,
    records: () => records,
    calls: () => pairing.calls(),
    withoutResult: () => withoutResult,
    bodiless: () => bodiless,
    open: () => pairing.open(),
    signed: () => coverage.sum({ records, reached }),
  }
}
