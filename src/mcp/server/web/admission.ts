import type { ServerResponse } from 'node:http'
import type { GatewayConfiguration } from '../../../contract/mcp/serving.ts'
import { createRateLimit } from './rate-limit.ts'
import type { Refusal } from './send-json.ts'

/** Lets the requests of each caller in, as many as one caller may have without stopping the others. */
export interface Admission {
  /** Why a request is refused; undefined for one that may go on. It counts until its response is closed. */
  enter(caller: string, response: ServerResponse): Refusal | undefined
  close(): void
}

/** A request that is open. */
interface Open {
  readonly response: ServerResponse
  /** Bytes that its client had taken when that was last looked at. */
  taken: number
  /** When its client last took some, or had none to take. */
  takenAt: number
}

/** More answers than this that one caller asked for and does not read are not made. */
const maxUnreadBytes = 64 * 1024 * 1024
/** A client that takes nothing of an answer for so long is cut off. */
const unreadMs = 60_000
const lookMs = 10_000

export function createAdmission({
  requestsPerMinute,
  maxRequests = 256,
}: Pick<GatewayConfiguration, 'requestsPerMinute' | 'maxRequests'>): Admission {
  const limit = requestsPerMinute === undefined ? undefined : createRateLimit(requestsPerMinute)
  const open = new Map<string, Set<Open>>()

  const refuseMore = (own: ReadonlySet<Open>): Refusal | undefined => {
    if (own.size >= maxRequests)
      return soon(`${own.size} requests of this caller are open, as many as may be. Let one end first.`)
    const unread = [...own].reduce((sum, { response }) => sum + unreadOf(response), 0)
    if (unread <= maxUnreadBytes) return undefined
    return soon(`This caller has ${unread} bytes of answers to read. Read them first.`)
  }
  const cutSilent = (): void => {
    const now = performance.now()
    for (const each of [...open.values()].flatMap((own) => [...own])) {
      const taken = takenOf(each.response)
      if (taken !== each.taken || unreadOf(each.response) === 0) each.takenAt = now
      each.taken = taken
      if (now - each.takenAt > unreadMs) each.response.destroy()
    }
  }
  const look = setInterval(cutSilent, lookMs).unref()

  return {
    enter(caller, response) {
      const waitMs = limit?.take(caller) ?? 0
      if (waitMs > 0) return tooOften(waitMs, requestsPerMinute)
      const own = open.get(caller) ?? new Set()
      const refused = refuseMore(own)
      if (refused !== undefined) return refused
      const entered: Open = { response, taken: 0, takenAt: performance.now() }
      open.set(caller, own.add(entered))
      response.once('close', () => {
        own.delete(entered)
        if (own.size === 0 && open.get(caller) === own) open.delete(caller)
      })
      return undefined
    },
    close: () => clearInterval(look),
  }
}

/** What is made of an answer and not taken by its client yet. */
const unreadOf = (response: ServerResponse): number => response.writableLength

function takenOf({ socket }: ServerResponse): number {
  return socket === null ? 0 : socket.bytesWritten - socket.writableLength
}

function soon(message: string): Refusal {
  return { status: 429, message, headers: { 'retry-after': '1' } }
}

function tooOften(waitMs: number, requestsPerMinute = 0): Refusal {
  const seconds = Math.ceil(waitMs / 1_000)
  return {
    status: 429,
    message: `More than ${requestsPerMinute} requests in a minute. Try again in ${seconds} s.`,
    headers: { 'retry-after': String(seconds) },
  }
}
