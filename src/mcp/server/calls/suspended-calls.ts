import { randomUUID } from 'node:crypto'
import type { InputRequests } from '@modelcontextprotocol/server'
import type { OpenCall } from './open-call.ts'

/** What a client has to come back with. */
export interface Pending {
  readonly requests: InputRequests
  /** Accepts the answers that the client came back with. */
  accept(responses: { readonly [key: string]: unknown } | undefined): void
  /** It will not come back with that. */
  refuse(reason: string): void
  /** Whether the call runs, so that it may end before the client comes back, and how it ended is the client's to know. */
  readonly isRunning: boolean
}

/** A call that waits for the client to come back with an answer. */
export interface SuspendedCall {
  readonly call: OpenCall
  readonly pending: Pending
  /** What the client must ask for again, word by word. */
  readonly inputDigest: string
}

/** Calls that wait for their client. A ticket works once. */
export interface SuspendedCalls {
  /** The ticket; undefined if too many calls wait already. */
  suspend(suspended: SuspendedCall): string | undefined
  resume(ticket: string): SuspendedCall | undefined
}

/** How long a call that ended while it ran is kept for its client. */
const keepMs = 600_000

/**
 * Keeps at most `limit` calls. One that ends leaves by itself, at once where it did not run yet; one that did waits on for its client, as long
 * as there is room.
 */
export function createSuspendedCalls(limit: number): SuspendedCalls {
  const waiting = new Map<string, SuspendedCall>()
  /** Of those that ended, the oldest first, with what will forget them. */
  const ended = new Map<string, NodeJS.Timeout>()
  const forget = (ticket: string): void => {
    waiting.delete(ticket)
    clearTimeout(ended.get(ticket))
    ended.delete(ticket)
  }
  const makeRoom = (): boolean => {
    const [oldest] = ended.keys()
    if (waiting.size >= limit && oldest !== undefined) forget(oldest)
    return waiting.size < limit
  }
  return {
    suspend(suspended) {
      if (!makeRoom()) return undefined
      const ticket = randomUUID()
      waiting.set(ticket, suspended)
      const leave = (): void => {
        if (!suspended.pending.isRunning) return forget(ticket)
        if (waiting.has(ticket)) ended.set(ticket, setTimeout(forget, keepMs, ticket).unref())
      }
      suspended.call.ended.then(leave, leave)
      return ticket
    },
    resume(ticket) {
      const suspended = waiting.get(ticket)
      forget(ticket)
      return suspended
    },
  }
}
