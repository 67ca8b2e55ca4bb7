import type { IncomingMessage } from 'node:http'
import { loopbackNames } from '../../../kit/match/loopback.ts'

/** Which requests a local server takes, beside those that name it by a loopback name. */
export interface GuardOptions {
  readonly port: number
  /** Further values of the Host header, such as `handrail.internal` or `handrail.internal:8443`. */
  readonly allowedHosts: readonly string[]
  /** Further values of the Origin header, such as `https://handrail.internal`. */
  readonly allowedOrigins: readonly string[]
}

/**
 * Says why a request is refused; undefined for one that may pass. A web page that reaches a local server through a name of its own
 * (DNS rebinding) is known by its Host, one that sends across origins by its Origin.
 */
export function createGuard({ port, allowedHosts, allowedOrigins }: GuardOptions) {
  const hosts = new Set(allowedHosts.map((host) => host.toLowerCase()))
  for (const name of loopbackNames) {
    hosts.add(`${name}:${port}`)
    if (port === 80) hosts.add(name)
  }
  const origins = new Set(allowedOrigins.map((origin) => origin.toLowerCase()))

  return ({ headers }: IncomingMessage): string | undefined => {
    const host = headers.host ?? ''
    if (!hosts.has(host.toLowerCase()))
      return `The Host "${host.slice(0, 100)}" is not served here. Use http://127.0.0.1:${port}, or allow the host.`
    const { origin } = headers
    if (origin === undefined || origins.has(origin.toLowerCase()) || isLoopback(origin)) return undefined
    return `Requests from the origin "${origin.slice(0, 100)}" are not taken. Allow the origin if it is yours.`
  }
}

function isLoopback(origin: string): boolean {
  if (!URL.canParse(origin)) return false
  const { protocol, hostname } = new URL(origin)
  return (protocol === 'http:' || protocol === 'https:') && loopbackNames.includes(hostname)
}
