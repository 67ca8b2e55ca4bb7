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
/** What is paused now. */
export const pauses = signal<readonly PauseRow[]>([])
/** Whether the server tells us what happens. */
export const isConnected = signal(false)

type Listener = (told: ToldRecord) => void
const listeners = new Set<Listener>()

/** Calls back with each record from now on. Returns what ends it. */
export function onRecord(listener: Listener): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Follows what happens. The browser connects anew by itself, with the last place that it saw. */
export function follow(): void {
  const source = new EventSource('/api/events')
  source.addEventListener('hello', () => {
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
    else next.delete(approval.id)
    waiting.value = next
  })
}
