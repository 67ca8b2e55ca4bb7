import { randomUUID } from 'node:crypto'
import type { InputRequests } from '@modelcontextprotocol/server'
import type { OpenCall } from './open-call.ts'

/** What a client has to come back with. */
export interface Pending {
  readonly requests: InputRequests
  /** Takes what it came back with. */
  take(responses: { readonly [key: string]: unknown } | undefined): void
  /** It will not come back with that. */
  refuse(reason: string): void
}

/** A call that waits for the client to come back with an answer. */
export interface ParkedCall {
  readonly call: OpenCall
  readonly pending: Pending
  /** What the client must ask for again, word by word. */
  readonly inputDigest: string
}

/** Calls that wait for their client. A ticket works once; a call that ended leaves by itself. */
export interface ParkedCalls {
  /** The ticket; undefined where too many calls wait already. */
  park(parked: ParkedCall): string | undefined
  take(ticket: string): ParkedCall | undefined
}

/** Keeps at most `limit` calls. */
export function createParkedCalls(limit: number): ParkedCalls {
  const waiting = new Map<string, ParkedCall>()
  return {
    park(parked) {
      if (waiting.size >= limit) return undefined
      const ticket = randomUUID()
      waiting.set(ticket, parked)
      const leave = (): boolean => waiting.delete(ticket)
      parked.call.ended.then(leave, leave)
      return ticket
    },
    take(ticket) {
      const parked = waiting.get(ticket)
      waiting.delete(ticket)
      return parked
    },
  }
}
