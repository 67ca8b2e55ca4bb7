import { signal } from '@preact/signals'
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
  source.addEventListener('hello', ({ data }) => {
    const { at }: { readonly at: number } = JSON.parse(String(data))
    openedAt ??= at
    clockAhead.value = at - Date.now()
    isConnected.value = true
    waiting.value = new Map()
    pauses.value = []
  })
  source.addEventListener('error', () => {
    isConnected.value = false
  })
  source.addEventListener('record', ({ data }) => {
    const told: ToldRecord = JSON.parse(String(data))
    for (const listener of listeners) listener(told)
  })
  source.addEventListener('pauses', ({ data }) => {
    pauses.value = JSON.parse(String(data))
  })
  source.addEventListener('approval', ({ data }) => {
    const { event, approval }: ToldApproval = JSON.parse(String(data))
    const next = new Map(waiting.value)
    if (event === 'requested' || event === 'answered') next.set(approval.id, approval)
    else {
      next.delete(approval.id)
      ended.value = new Map([...[...ended.value].slice(-mostEnded), [approval.id, { event, approval }]])
    }
    waiting.value = next
    if (event !== 'requested' || heard.has(approval.id)) return
    heard.add(approval.id)
    // What waited before this page was opened is no news.
    if (approval.askedAt >= (openedAt ?? 0)) for (const hearer of hearers) hearer(approval)
  })
}
