import { createHash, type KeyObject } from 'node:crypto'
import type { ChainIssue, StoredRecord, Verification } from '../../contract/evidence.ts'
import { createChainWalk, type ChainWalk } from '../chain/chain-walk.ts'
import type { ExportEnd, ExportHeader } from './export-format.ts'
import { readExportLine } from './read-export.ts'
import { fromKeyText, keyId } from '../chain/signing-key.ts'
import { toIssue } from '../chain/to-issue.ts'

/** What an export is good for. */
export interface ExportVerification extends Verification {
  signed: NonNullable<Verification['signed']>
  /** Undefined if the first line is none. */
  header: ExportHeader | undefined
}

/**
 * Holds an export against itself: its chains without gaps, its texts, bodies, pairs and counts, and its signatures by the public
 * keys it names. Only a reader who got their ids another way knows whose keys those are. `onRecord` sees every good record.
 */
export async function verifyExport(
  lines: Iterable<string> | AsyncIterable<string>,
  onRecord: (record: StoredRecord) => void | Promise<void> = () => {},
): Promise<ExportVerification> {
  const reading = createReading()
  let number = 0
  for await (const line of lines) {
    number++
    const { issue, record } = reading.take(line.replace(/\r?\n$/, ''), number)
    if (issue !== undefined) return reading.result(issue)
    if (record !== undefined) await onRecord(record)
  }
  return reading.result(reading.finish())
}

interface Reading {
  take(line: string, number: number): { issue?: ChainIssue | undefined; record?: StoredRecord }
  finish(): ChainIssue | undefined
  result(issue: ChainIssue | undefined): ExportVerification
}

const nowhere = { tenant: '', sequence: 0, call: '' }

function createReading(): Reading {
  let header: ExportHeader | undefined
  let end: ExportEnd | undefined
  let walks = new Map<string, ChainWalk>()
  const seen = createHash('sha256')
  const sum = (count: (walk: ChainWalk) => number): number =>
    [...walks.values()].reduce((total, walk) => total + count(walk), 0)

  const takeHeader = (given: ExportHeader): ChainIssue | undefined => {
    header = given
    const keys = readKeys(given)
    if (keys === undefined)
      return toIssue(nowhere, 'bad_signature', 'The header names a key whose id does not belong to it.')
    walks = new Map(
      given.tenants.map(({ tenant, after, hash }) => [tenant, startWalk({ tenant, after, hash }, keys)]),
    )
    return undefined
  }
  const takeRecord = (record: StoredRecord): ReturnType<Reading['take']> => {
    const walk = walks.get(record.tenant)
    const issue =
      walk === undefined
        ? toIssue(record, 'changed', `The header does not name the tenant "${record.tenant}".`)
        : walk.add(record)
    return issue === undefined ? { record } : { issue }
  }
  const misplaced = (number: number, what: string): ReturnType<Reading['take']> => ({
    issue: toIssue(nowhere, 'changed', `Line ${number} ${what}.`),
  })
  return {
    take(line, number) {
      const read = readExportLine(line)
      if (read.kind === 'unreadable') return misplaced(number, read.why)
      if (header === undefined && read.kind !== 'header')
        return misplaced(number, 'starts no export of evidence')
      if (header !== undefined && read.kind === 'header') return misplaced(number, 'is a second header')
      if (end !== undefined) return misplaced(number, 'stands behind the end of the export')
      if (read.kind !== 'end') seen.update(`${line}\n`)
      if (read.kind === 'header') return { issue: takeHeader(read.header) }
      if (read.kind === 'record') return takeRecord(read.record)
      end = read.end
      return {}
    },
    finish() {
      if (end === undefined)
        return toIssue(
          nowhere,
          'truncated',
          'The file ends before the export does: its last line is missing.',
        )
      const records = sum((walk) => walk.records())
      return findShortage(end, walks) ?? findMiscount(end, records) ?? findDamage(end, seen.digest('hex'))
    },
    result(issue) {
      const signed = [...walks.values()].map((walk) => walk.signed())
      const withoutResult = sum((walk) => walk.withoutResult())
      return {
        ok: issue === undefined,
        header,
        records: sum((walk) => walk.records()),
        calls: sum((walk) => walk.calls()),
        ...(withoutResult > 0 && { withoutResult }),
        signed: {
          records: signed.reduce((total, { records }) => total + records, 0),
          pending: signed.reduce((total, { pending }) => total + pending, 0),
          keys: [...new Set(signed.flatMap(({ keys }) => keys))].sort(),
        },
        ...(issue !== undefined && { issue }),
      }
    },
  }
}

/** Undefined if an id is not that of its key. */
function readKeys({ keys }: ExportHeader): Map<string, KeyObject> | undefined {
  const known = new Map<string, KeyObject>()
  for (const { id, publicKey } of keys) {
    try {
      const key = fromKeyText(publicKey)
      if (keyId(key) !== id) return undefined
      known.set(id, key)
    } catch {
      return undefined
    }
  }
  return known
}

function startWalk(
  { tenant, after, hash }: ExportHeader['tenants'][number],
  keys: ReadonlyMap<string, KeyObject>,
): ChainWalk {
  const start = { sequence: after, hash }
  return createChainWalk({ tenant, start, anchors: [], keys, findMoved: () => false })
}

function findMiscount({ records }: ExportEnd, found: number): ChainIssue | undefined {
  if (records === found) return undefined
  return toIssue(nowhere, 'truncated', `The export has ${found} records, and its end says ${records}.`)
}

function findDamage({ digest }: ExportEnd, found: string): ChainIssue | undefined {
  if (digest === found) return undefined
  const message =
    'The records hold, but the lines of the file are not those that were exported: something beside the records was changed.'
  return toIssue(nowhere, 'changed', message)
}

/** Where the file has less, or more, than its end says. */
function findShortage(end: ExportEnd, walks: ReadonlyMap<string, ChainWalk>): ChainIssue | undefined {
  for (const { tenant } of end.tenants)
    if (!walks.has(tenant))
      return toIssue(nowhere, 'missing', `The export says that it has records of "${tenant}", and has none.`)
  for (const [tenant, walk] of walks) {
    const said = end.tenants.find((each) => each.tenant === tenant)
    if (said?.sequence === walk.reached() && (walk.records() === 0 || said.hash === walk.lastHash())) continue
    const message = `The records of "${tenant}" end at ${walk.reached()}, and the export says ${said?.sequence ?? 'nothing'} of them.`
    return toIssue({ tenant, sequence: walk.reached() + 1, call: '' }, 'truncated', message)
  }
  return undefined
}
