import type { LookupFunction } from 'node:net'
import { isIP } from 'node:net'
import { buildConnector, Client } from 'undici'
import { normaliseAddress } from './find-reservation.ts'
import type { Target } from './read-url.ts'

/** How long it may take to connect. */
export const connectMs = 10_000
/** How long a server may be silent, before its headers and between two pieces of its body. */
const silenceMs = 15_000

/**
 * A connection to one of these addresses and no other, whatever the name of the host means by now. No proxy, no cookies, no
 * cache; certificates are checked whatever the environment says. Destroy it.
 */
export function openConnection({ url }: Target, addresses: readonly string[]): Client {
  return new Client(url.origin, {
    connect: connectPinned(addresses),
    headersTimeout: silenceMs,
    bodyTimeout: silenceMs,
    maxHeaderSize: 64 * 1024,
    pipelining: 1,
  })
}

/** Connects to one of these addresses and no other. */
export function connectPinned(addresses: readonly string[]): buildConnector.connector {
  const checked = new Set(addresses.map(normaliseAddress))
  const connect = buildConnector({
    lookup: pinTo(addresses),
    timeout: connectMs,
    rejectUnauthorized: true,
    allowH2: false,
    maxCachedSessions: 0,
  })
  return (options, callback) =>
    connect(options, (...[error, socket]) => {
      if (error !== null) return callback(error, null)
      if (checked.has(normaliseAddress(socket.remoteAddress ?? ''))) return callback(null, socket)
      socket.destroy()
      callback(new Error(`Connected to "${socket.remoteAddress}", which was not checked.`), null)
    })
}

/** A lookup that returns these addresses for any name. */
export function pinTo(addresses: readonly string[]): LookupFunction {
  const pinned = addresses.map((address) => ({ address, family: isIP(address) }))
  return (_host, options, callback) => {
    const [first] = pinned
    if (options.all === true) callback(null, pinned)
    else callback(null, first?.address ?? '', first?.family)
  }
}
