import { createHash } from 'node:crypto'
import { readRecord } from '../../kit/result/read-record.ts'
import type { StoredRecord } from '../../contract/evidence.ts'
import type { Store } from '../../contract/store.ts'
import type { ExportedRecord, ExportEnd, ExportHeader } from './export-format.ts'
import type { KeyFiles } from '../chain/key-files.ts'
import { toKeyText } from '../chain/signing-key.ts'

export interface ExportOptions {
  /** Default: all. */
  tenant?: string
  /** Only what is needed to prove this session: from its first record to the signature over its last, bodies of others withheld. */
  session?: string
  /** Their public keys go into the file. */
  keys?: Pick<KeyFiles, 'publicKeys'>
  /** Milliseconds since the epoch. */
  at: number
}

/** A part of a chain: the records after `after`, up to `last`. */
interface Stretch {
  tenant: string
  after: number
  hash: string
  last: number
}

/** The lines of an export, each with its line break. Header and end only if there is nothing. */
export function* exportEvidence(store: Store, options: ExportOptions): IterableIterator<string> {
  const { session } = options
  const stretches = findStretches(store, options)
  const written = createHash('sha256')
  const put = (value: ExportHeader | ExportedRecord): string => {
    const line = toLine(value)
    written.update(line)
    return line
  }
  yield put(toHeader(stretches, options))
  let records = 0
  const tenants: ExportEnd['tenants'][number][] = []
  for (const { tenant, after, last } of stretches) {
    let reached = { tenant, sequence: after, hash: '' }
    for (const record of store.records({ tenant, after })) {
      if (record.sequence > last) break
      yield put(toExported(record, session))
      records++
      reached = { tenant, sequence: record.sequence, hash: record.hash }
    }
    tenants.push(reached)
  }
  yield toLine({ end: true, records, tenants, digest: written.digest('hex') })
}

function toHeader(stretches: readonly Stretch[], { session, keys, at }: ExportOptions): ExportHeader {
  return {
    handrail: 'evidence',
    version: 1,
    at,
    tenants: stretches.map(({ tenant, after, hash }) => ({ tenant, after, hash })),
    ...(session !== undefined && { session }),
    keys: [...(keys?.publicKeys() ?? [])].map(([id, key]) => ({ id, publicKey: toKeyText(key) })),
  }
}

function findStretches(store: Store, { tenant, session }: ExportOptions): Stretch[] {
  const tenants = tenant === undefined ? store.tenants() : [tenant]
  return tenants.flatMap((name) => {
    const stretch = session === undefined ? wholeChain(store, name) : findSession(store, name, session)
    return stretch === undefined ? [] : [stretch]
  })
}

function wholeChain(store: Store, tenant: string): Stretch | undefined {
  const [first] = store.records({ tenant, limit: 1 })
  // What is written meanwhile is for the next export.
  const last = store.head(tenant)?.sequence ?? 0
  return first && { tenant, ...findStart(store, first), last }
}

function findSession(store: Store, tenant: string, session: string): Stretch | undefined {
  const [first] = store.records({ tenant, session, limit: 1 })
  const [last] = store.records({ tenant, session, limit: 1, newestFirst: true })
  if (first === undefined || last === undefined) return undefined
  return { tenant, ...findStart(store, first), last: findCheckpoint(store, last) }
}

/** The record before this one. Where that was dropped from memory, nothing shows that this one is whole, and the next one is the first. */
function findStart(store: Store, { tenant, sequence }: StoredRecord): { after: number; hash: string } {
  if (sequence === 1) return { after: 0, hash: '' }
  const [record] = store.records({ tenant, after: sequence - 2, limit: 1 })
  return { after: record?.sequence ?? 0, hash: record?.hash ?? '' }
}

/** Sequence of the first checkpoint that covers the record; without one, everything that follows is given. */
function findCheckpoint(store: Store, { tenant, sequence }: StoredRecord): number {
  for (const checkpoint of store.records({ tenant, kind: 'checkpoint', after: sequence })) {
    const { sequence: covered } = readRecord(checkpoint.text, 'checkpoint')
    if (covered >= sequence) return checkpoint.sequence
  }
  return Number.POSITIVE_INFINITY
}

function toExported(record: StoredRecord, only: string | undefined): ExportedRecord {
  const { tenant, sequence, hash, text, body, session } = record
  const withheld = only !== undefined && session !== only && body !== null
  return { tenant, sequence, hash, text, ...(!withheld && { body }) }
}

function toLine(value: ExportHeader | ExportedRecord | ExportEnd): string {
  return `${JSON.stringify(value)}\n`
}
