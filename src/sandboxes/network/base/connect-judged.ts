import { connect, type Socket } from 'node:net'
import { ToolFailure } from '../../../contract/base/errors.ts'
import { normaliseAddress } from './find-reservation.ts'
import { connectMs, pinTo } from './open-connection.ts'
import { readUrl, type Target } from './read-url.ts'
import { resolveHost } from './resolve-host.ts'
import type { Passport } from './send-request.ts'

/** A connection to what a URL names, and what that is. Destroy it. */
export interface JudgedConnection {
  readonly target: Target
  readonly socket: Socket
}

/**
 * Connects to the host of a URL, judged like a request to it: by the URL, by `permit`, and by every address of the host. Rejects
 * with a `ToolFailure` if any of them refuses, or no address answers.
 */
export async function connectJudged(url: string, passport: Passport): Promise<JudgedConnection> {
  const target = readUrl(url, passport)
  await passport.permit({ host: target.host, url: target.url.href })
  const addresses = await resolveHost(target, passport)
  return { target, socket: await connectTo(target, addresses, passport.signal) }
}

/** To one of these addresses and no other, whatever the name of the host means by now. */
function connectTo(
  { host, port }: Target,
  addresses: readonly string[],
  signal: AbortSignal,
): Promise<Socket> {
  const checked = new Set(addresses.map(normaliseAddress))
  return new Promise((resolve, reject) => {
    const fail = (why: string) => {
      settle()
      socket.destroy()
      reject(notConnected(`${host}:${port}`, why))
    }
    const onAbort = () => fail('its caller has left')
    const settle = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', onAbort)
    }
    const socket = connect({ host, port, lookup: pinTo(addresses), allowHalfOpen: true, noDelay: true })
    const timer = setTimeout(() => fail('no answer'), connectMs)
    signal.addEventListener('abort', onAbort)
    socket.once('error', (error) => fail('code' in error ? String(error.code) : error.name))
    socket.once('connect', () => {
      if (!checked.has(normaliseAddress(socket.remoteAddress ?? ''))) return fail('another address')
      settle()
      resolve(socket)
    })
    if (signal.aborted) onAbort()
  })
}

function notConnected(place: string, why: string): ToolFailure {
  return new ToolFailure({
    reason: 'connection_failed',
    message: `"${place}" cannot be connected to (${why}). Check the host and the port, or try again later.`,
  })
}
