import { batch, signal } from '@preact/signals'
import { ask, type EvidenceRecord, type PendingApproval } from './api.ts'

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

/** What waits for a person now, by id. It changes as a whole, also when the server comes back, so that nothing jumps. */
export const waiting = signal<ReadonlyMap<string, PendingApproval>>(new Map())
/** Whether `waiting` is known: it is empty before. */
export const isListed = signal(false)
/** Whether the server tells us what happens. */
export const isConnected = signal(false)

type Listener = (told: ToldRecord) => void
const listeners = new Set<Listener>()

/** Calls back with each record from now on. Returns what ends it. */
export function onRecord(listener: Listener): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

type EndListener = (told: ToldApproval) => void
const endListeners = new Set<EndListener>()

/** Calls back with each question that does not wait any more, and why. Returns what ends it. */
export function onEnd(listener: EndListener): () => void {
  endListeners.add(listener)
  return () => endListeners.delete(listener)
}

/** What is told while the list of what waits is asked for. */
let held: ToldApproval[] | undefined

/** Asks for all that waits. What is told meanwhile is taken after it. */
async function listAgain(): Promise<void> {
  const mine: ToldApproval[] = []
  held = mine
  let listed: readonly PendingApproval[] = []
  try {
    listed = (await ask<{ readonly approvals: readonly PendingApproval[] }>('/api/approvals')).approvals
  } catch {
    // The stream tells all that waits as well.
  }
  if (held !== mine) return
  held = undefined
  batch(() => {
    waiting.value = new Map(listed.map((approval) => [approval.id, approval]))
    for (const told of mine) take(told)
    isListed.value = true
  })
}

function take(told: ToldApproval): void {
  const { event, approval } = told
  const next = new Map(waiting.value)
  if (event === 'requested' || event === 'answered') next.set(approval.id, approval)
  else next.delete(approval.id)
  waiting.value = next
  if (!next.has(approval.id)) for (const listener of endListeners) listener(told)
}

/** Follows what happens. The browser connects anew by itself, with the last place that it saw. */
export function follow(): void {
  const source = new EventSource('/api/events')
  source.addEventListener('hello', () => {
    isConnected.value = true
    void listAgain()
  })
  source.addEventListener('error', () => {
    isConnected.value = false
  })
  source.addEventListener('record', ({ data }) => {
    const told: ToldRecord = JSON.parse(String(data))
    for (const listener of listeners) listener(told)
  })
  source.addEventListener('approval', ({ data }) => {
    const told: ToldApproval = JSON.parse(String(data))
    if (held === undefined) take(told)
    else held.push(told)
  })
}
