import { ToolFailure } from '../../contract/base/errors.ts'
import { readRecord } from '../../kit/result/read-record.ts'
import type { StoredRecord } from '../../contract/evidence.ts'
import type { Changes, Entry, RecordQuery, Store } from '../../contract/store.ts'
import { newId } from '../../kit/new-id.ts'
import { countEnds } from './count-ends.ts'
import { createMemoryBudgets } from './memory-budgets.ts'
import { createMemoryChain, type MemoryChain } from './memory-chain.ts'
import { createMemoryDocuments } from './memory-documents.ts'
import { createMemoryFacts } from './memory-facts.ts'
import { createMemoryKeys } from './memory-keys.ts'
import { textFilter } from './text-filter.ts'
import { isFinding, secondFinding } from '../refusals.ts'
import { createKeyedDigest, newSecret } from '../keyed-digest.ts'
import { prepareEntry, type PreparedEntry } from '../prepare-entry.ts'

export interface MemoryStoreOptions {
  /** Milliseconds since the epoch. Default `Date.now`. */
  now?: () => number
  /** Records kept of each tenant; older ones are dropped. Default 10,000. */
  maxRecords?: number
  /** Characters of text and bodies kept of each tenant; older records are dropped. Default 64 Mi. */
  maxCharacters?: number
}

/**
 * A store that lives as long as its process: the same chain and the same rules as a durable one, bounded. Verification of a
 * tenant starts at the first record that is kept.
 */
export function createMemoryStore(options: MemoryStoreOptions = {}): Store {
  const { now = Date.now, maxRecords = 10_000, maxCharacters = 64 * 1024 * 1024 } = options
  const chains = new Map<string, MemoryChain>()
  const keys = createMemoryKeys()
  const facts = createMemoryFacts()
  const documents = createMemoryDocuments()
  const budgets = createMemoryBudgets()
  /** Begun and not ended. */
  const open = new Set<string>()
  const writer = newId('writer', now())
  let closed = false

  const chainOf = (tenant: string): MemoryChain => {
    let chain = chains.get(tenant)
    if (chain === undefined)
      chains.set(tenant, (chain = createMemoryChain({ tenant, maxRecords, maxCharacters })))
    return chain
  }
  const isNeeded = ({ call }: StoredRecord): boolean => open.has(call) || keys.needs(call, now())
  const write = (entries: readonly Entry[], changes: Changes | undefined): void => {
    if (closed) throw failure('The store (memory) is closed and takes no more records.')
    // Nothing is written unless all of it can be.
    const prepared = entries.map(prepareEntry)
    refuseStrayEnds(prepared, open)
    refuseSecondFindings(prepared, chains)
    const writeDocuments = documents.prepare(changes?.documents ?? [])
    if (changes?.facts !== undefined) facts.change(changes.facts)
    writeDocuments()
    for (const entry of prepared) {
      const { record, call, body } = entry
      chainOf(record.tenant).append(entry)
      if (record.kind === 'begin') {
        open.add(call)
        keys.begin(call, entry)
      }
      if (record.kind !== 'end') continue
      open.delete(call)
      keys.end(call, { outcome: record.outcome, body })
    }
    for (const settlement of changes?.settle ?? []) budgets.settle(settlement)
    for (const resolution of changes?.resolve ?? []) keys.resolve(resolution)
  }
  return {
    description: 'memory',
    writer,
    durable: false,
    readOnly: undefined,
    append: (entries, changes) => rejecting(() => write(entries, changes)),
    records: (query) => selectRecords(chains, query),
    countEnds: ({ until, ...query }) => countEnds(selectRecords(chains, { ...query, kind: 'end' }), until),
    tenants: () => [...chains.keys()].sort(),
    head: (tenant) => chains.get(tenant)?.head(),
    digest: createKeyedDigest(newSecret()),
    examine: () => [],
    lives: (id) => id === writer && !closed,
    // Nothing of a process that is gone is here.
    orphans: () => [],
    findKey: (use) => keys.find(use),
    claimKey: (use) => keys.claim(use),
    facts: (kind, tenant) => facts.read(kind, tenant),
    factsVersion: () => facts.version(),
    documents: (query) => documents.read(query),
    factsSince: (kind, version) => facts.since(kind, version),
    reserve: (request) => budgets.reserve(request),
    refund: (call) => budgets.refund(call),
    balance: (account) => budgets.balance(account),
    countPrunable: ({ tenant, at }) =>
      sumOf(
        chainsOf(chains, tenant),
        (chain) => [...chain.records(0, false)].filter(isOld(at, isNeeded)).length,
      ),
    prune: ({ tenant, at }) => sumOf(chainsOf(chains, tenant), (chain) => chain.prune(isOld(at, isNeeded))),
    async close() {
      closed = true
    },
  }
}

function refuseStrayEnds(entries: readonly PreparedEntry[], open: ReadonlySet<string>): void {
  let begun: Set<string> | undefined
  for (const { record, call } of entries) {
    if (record.kind === 'begin') (begun ??= new Set()).add(call)
    if (record.kind !== 'end' || open.has(call) || begun?.delete(call) === true) continue
    throw failure(
      `The end of the call "${call}" is not recorded: the call has no begin, or has ended already.`,
    )
  }
}

function refuseSecondFindings(
  entries: readonly PreparedEntry[],
  chains: ReadonlyMap<string, MemoryChain>,
): void {
  if (!entries.some(({ record }) => isFinding(record))) return
  const found = new Set<string>()
  for (const { record, call } of entries) {
    if (!isFinding(record)) continue
    for (const { text } of selectRecords(chains, { tenant: record.tenant, call, kind: 'note' }))
      if (isFinding(readRecord(text, 'note'))) found.add(call)
    if (found.has(call)) throw secondFinding(call)
    found.add(call)
  }
}

function* selectRecords(
  chains: ReadonlyMap<string, MemoryChain>,
  query: RecordQuery,
): IterableIterator<StoredRecord> {
  const { tenant, session, call, kind, after = 0, before = Infinity, newestFirst = false } = query
  const isOfText = textFilter(query)
  const ended = query.open === true ? findEnded(chains, tenant) : undefined
  const tenants = tenant === undefined ? [...chains.keys()].sort() : [tenant]
  if (newestFirst) tenants.reverse()
  let left = query.limit ?? Number.POSITIVE_INFINITY
  for (const name of tenants)
    for (const record of chains.get(name)?.records(after, newestFirst) ?? []) {
      if (left <= 0) return
      if (record.sequence >= before) continue
      if (session !== undefined && record.session !== session) continue
      if ((call !== undefined && record.call !== call) || (kind !== undefined && record.kind !== kind))
        continue
      if (!isOfText(record)) continue
      if (ended !== undefined && (record.kind !== 'begin' || ended.has(record.call))) continue
      left--
      yield record
    }
}

/** The calls that have an end. */
function findEnded(chains: ReadonlyMap<string, MemoryChain>, tenant: string | undefined): Set<string> {
  const ends = selectRecords(chains, { kind: 'end', ...(tenant !== undefined && { tenant }) })
  return new Set([...ends].map(({ call }) => call))
}

/** Picks what is old and has a body that no call needs any more. */
function isOld(at: number, isNeeded: (record: StoredRecord) => boolean): (record: StoredRecord) => boolean {
  return (record) => record.body !== null && timeOf(record.text) < at && !isNeeded(record)
}

function sumOf(chains: readonly MemoryChain[], count: (chain: MemoryChain) => number): number {
  return chains.reduce((sum, chain) => sum + count(chain), 0)
}

function chainsOf(chains: ReadonlyMap<string, MemoryChain>, tenant: string | undefined): MemoryChain[] {
  return [...chains].flatMap(([name, chain]) => (tenant === undefined || name === tenant ? [chain] : []))
}

/** When the record with this text was made, in milliseconds since the epoch. */
function timeOf(text: string): number {
  return readRecord(text).at
}

/** What is thrown is for those who wait. */
function rejecting(work: () => void): Promise<never> | undefined {
  try {
    work()
    return undefined
  } catch (error) {
    return Promise.reject(error)
  }
}

function failure(message: string): ToolFailure {
  return new ToolFailure({ code: 'PROVIDER.UNAVAILABLE', reason: 'store_failed', message })
}
