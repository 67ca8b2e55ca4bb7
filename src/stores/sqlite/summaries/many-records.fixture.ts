import type { Entry, RecordQuery, Store } from '../../../contract/store.ts'
import { sampleBegin, sampleEnd } from '../../../testing/store-checks/sample-records.ts'
import { createMemoryStore } from '../../memory/create-memory-store.ts'

/** When the first of the records was made. */
export const start = 1_763_667_600_000
const tools = ['code.read', 'code.write', 'web.[get]']
const outcomes = ['ok', 'ok', 'ok', 'denied', 'failed'] as const

/** Calls of three tools by five actors in sessions of seven calls, of which every third ends after the next began. */
export function someCalls(from: number, count: number, tenant = 'local'): Entry[] {
  const entries: Entry[] = []
  let waiting: Entry[] = []
  for (let i = from; i < from + count; i++) {
    const about = {
      tenant,
      session: `ses_${Math.floor(i / 7)}`,
      tool: tools[i % 3] ?? '',
      at: start + i * 1000,
    }
    const call = `${tenant}_${i}`
    entries.push(sampleBegin(call, { ...about, actor: `actor_${i % 5}` }), ...waiting)
    const outcome = outcomes[i % outcomes.length] ?? 'ok'
    waiting = [sampleEnd(call, { ...about, at: about.at + 5, outcome, durationMs: (i * 37) % 5000 })]
    if (i % 3 !== 0) entries.push(...waiting.splice(0))
  }
  return [...entries, ...waiting]
}

/** A bit more than three parts of a chain. */
export const usual = [...someCalls(0, 3200), ...someCalls(0, 20, 'other')]

const queries: readonly RecordQuery[] = [
  { kind: 'begin', newestFirst: true, limit: 60 },
  { kind: 'begin', tool: 'web.[g*', limit: 1500 },
  { kind: 'begin', tool: 'nothing.*' },
  { kind: 'begin', actor: 'actor_3', newestFirst: true },
  { kind: 'end', outcome: 'failed', newestFirst: true, before: 3000 },
  { kind: 'end', outcome: 'failed', after: 2040, limit: 30 },
  { session: 'ses_7' },
  { session: 'ses_292', newestFirst: true },
  { since: start + 2_500_000, kind: 'begin' },
  { since: start + 2_500_000, tool: 'code.*', newestFirst: true, limit: 900 },
  { kind: 'note' },
  { after: 2047, before: 2050, kind: 'begin' },
  { after: 2048, before: 2050, kind: 'end' },
]

/** All that is asked of many records, in one value. */
export function answersOf(store: Store): unknown {
  const ends = (since: number, until: number) =>
    store
      .countEnds({ tenant: 'local', since: start + since, until: start + until })
      .map((each) => JSON.stringify(each, ['tool', 'outcome', 'durationMs', 'calls']))
      .toSorted()
  return {
    found: queries
      .flatMap((query) => [query, { tenant: 'local', ...query }])
      .map((query) => {
        const records = [...store.records(query)]
        return records.map(({ tenant, sequence, call, kind, text }) => ({
          tenant,
          sequence,
          call,
          kind,
          text,
        }))
      }),
    ends: [ends(0, 10_000_000), ends(500_000, 2_600_000), ends(1, 1)],
    prunable: [0, 1_000_000, 5_000_000].map((ms) => store.countPrunable({ at: start + ms })),
  }
}

const inMemory = new Map<number | undefined, Promise<unknown>>()

/** What a store says that has no summaries; asked once for all tests. */
export function answersInMemory(prunedAt?: number): Promise<unknown> {
  const answers = inMemory.get(prunedAt) ?? makeAnswers(prunedAt)
  inMemory.set(prunedAt, answers)
  return answers
}

async function makeAnswers(prunedAt: number | undefined): Promise<unknown> {
  const store = createMemoryStore()
  await store.append(usual)
  if (prunedAt !== undefined) store.prune({ at: prunedAt })
  return answersOf(store)
}
