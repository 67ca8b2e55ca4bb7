import type { BeginRecord } from '../../contract/evidence.ts'
import type { Store } from '../../contract/store.ts'
import { readRecord } from '../../kit/result/read-record.ts'

/** What makes a call of a model the same as one before. */
export type SameCall = Pick<BeginRecord, 'tenant' | 'session' | 'toolCallId' | 'tool' | 'input' | 'said'> & {
  readonly call: string
}

/**
 * The calls that this one was before, the newest first: each waited for a person in the middle, and came back. Providers count ids from zero, so another
 * call under the same id that did not wait, or took another input, ends the line.
 */
export function legsBefore(own: SameCall, store: Pick<Store, 'records'>): BeginRecord[] {
  if (own.toolCallId === undefined) return []
  const { tenant, session } = own
  const legs: BeginRecord[] = []
  for (const { text } of store.records({ tenant, session, kind: 'begin', newestFirst: true })) {
    const begin = readRecord(text, 'begin')
    if (begin.toolCallId !== own.toolCallId || begin.tool !== own.tool || begin.call >= own.call) continue
    const isSame = begin.input === own.input && begin.said?.input === own.said?.input
    if (!isSame || !waited(begin, store)) return legs
    legs.push(begin)
  }
  return legs
}

function waited({ tenant, call }: BeginRecord, store: Pick<Store, 'records'>): boolean {
  const [end] = store.records({ tenant, call, kind: 'end' })
  return end !== undefined && readRecord(end.text, 'end').outcome === 'waiting'
}
