import { batch, signal } from '@preact/signals'
import type { EvidenceRecord, PauseRow, PendingApproval } from './api.ts'

/** A record as the stream of events tells it. */
export interface ToldRecord {
  readonly tenant: string
  readonly sequence: number
  readonly record: EvidenceRecord
}

/** A change of a question that waits for a person. */
export interface ToldApproval {
  readonly event: 'requested' | 'answered' | 'decided' | 'expired' | 'withdrawn'
  readonly approval: PendingApproval
}

/** What waits for a person now, by id. */
export const waiting = signal<ReadonlyMap<string, PendingApproval>>(new Map())
/** Of how many questions that are over it is known what became of them. */
const mostEnded = 500
/** What became of questions that waited while this page was open, by id. */
export const ended = signal<ReadonlyMap<string, ToldApproval>>(new Map())
/** By how many milliseconds the clock of the server is ahead of this one. */
export const clockAhead = signal(0)
/** What is paused now. */
export const pauses = signal<readonly PauseRow[]>([])
/** Whether the server tells us what happens, or is about to. */
export const isConnected = signal(true)
/** Since when it tells us all that happens, in streams that were begun anew: 0 until it does. What was read before may lack something. */
export const beginning = signal(0)

type Listener = (told: ToldRecord) => void
const listeners = new Set<Listener>()

/** Calls back with each record from now on. Returns what ends it. */
export function onRecord(listener: Listener): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

type Hearer = (approval: PendingApproval) => void
const hearers = new Set<Hearer>()

/** Calls back with each question that is asked from now on. Returns what ends it. */
export function onAsked(hearer: Hearer): () => void {
  hearers.add(hearer)
  return () => hearers.delete(hearer)
}

/** Follows what happens. The browser connects anew by itself, with the last place that it saw. */
export function follow(): void {
  const source = new EventSource('/api/events')
  // By the clock of the server, which gives questions their times too.
  let openedAt: number | undefined
  const heard = new Set<string>()
  /** What waits and is paused, as far as it is told; undefined once all of it is. */
  let telling: { asked: ReadonlyMap<string, PendingApproval>; paused: readonly PauseRow[] } | undefined
  source.addEventListener('hello', ({ data }) => {
    const { at }: { readonly at: number } = JSON.parse(String(data))
    openedAt ??= at
    clockAhead.value = at - Date.now()
    telling = { asked: new Map(), paused: [] }
  })
  // All at once, so that nothing goes and comes back under the hands of a person.
  source.addEventListener('present', () =>
    batch(() => {
      isConnected.value = true
      waiting.value = telling?.asked ?? waiting.value
      pauses.value = telling?.paused ?? pauses.value
      beginning.value ||= openedAt ?? 0
      telling = undefined
    }),
  )
  source.addEventListener('error', () => {
    isConnected.value = false
  })
  source.addEventListener('record', ({ data }) => {
    const told: ToldRecord = JSON.parse(String(data))
    for (const listener of listeners) listener(told)
  })
  source.addEventListener('pauses', ({ data }) => {
    const paused: readonly PauseRow[] = JSON.parse(String(data))
    if (telling === undefined) pauses.value = paused
    else telling = { ...telling, paused }
  })
  source.addEventListener('approval', ({ data }) => {
    const { event, approval }: ToldApproval = JSON.parse(String(data))
    const next = new Map(telling?.asked ?? waiting.value)
    if (event === 'requested' || event === 'answered') next.set(approval.id, approval)
    else {
      next.delete(approval.id)
      ended.value = new Map([...[...ended.value].slice(-mostEnded), [approval.id, { event, approval }]])
    }
    if (telling === undefined) waiting.value = next
    else telling = { ...telling, asked: next }
    if (event !== 'requested' || heard.has(approval.id)) return
    heard.add(approval.id)
    // What waited before this page was opened is no news.
    if (approval.askedAt >= (openedAt ?? 0)) for (const hearer of hearers) hearer(approval)
  })
}
