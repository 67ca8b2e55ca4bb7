import { isIP } from 'node:net'
import { ToolFailure } from '../../../contract/base/errors.ts'
import { readHostPattern } from '../../../kit/match/host-pattern.ts'
import { hostOf } from '../../../kit/match/host-of.ts'
import { matchHost } from '../../../kit/match/match-host.ts'
import type { NetworkRules } from './network-rules.ts'
import { shorten } from '../../../kit/text/shorten.ts'

/** A URL that nothing speaks against before its host is looked up. */
export interface Target {
  /** Parsed, without fragment. */
  readonly url: URL
  /** Lower case, without a final dot and without brackets. */
  readonly host: string
  readonly port: number
  /** The address, where the URL has one instead of a name. */
  readonly literal: string | undefined
  /** Whether the profile names this port for it. */
  readonly isNamed: boolean
}

/** What URLs are held against. */
export interface UrlBounds {
  readonly rules: NetworkRules
  /** Patterns of the hosts that the profile covers. */
  readonly hosts: readonly string[]
}

/** Reads a URL as a browser would, relative to `base` if there is one, and refuses what can be told from it alone. */
export function readUrl(text: string, bounds: UrlBounds, base?: string): Target {
  if (!URL.canParse(text, base)) throw notUrl(text, base)
  const url = new URL(text, base)
  url.hash = ''
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw refused('scheme_blocked', `${nameOf(url.href, base)} is neither http nor https. Use one of these.`)
  if (url.username !== '' || url.password !== '')
    throw refused(
      'userinfo_blocked',
      `The URL of "${url.hostname}" carries a user name or a password, which is never sent. Leave it out.`,
    )
  const host = hostOf(url)
  const port = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port)
  const opening = findOpening(host, port, bounds)
  if (opening === 'no host')
    throw refused(
      'host_blocked',
      `"${host}" is not among the hosts this call may reach (${bounds.hosts.join(', ') || 'none'}).`,
    )
  if (opening === 'no port')
    throw refused(
      'port_blocked',
      `Port ${port} of "${host}" is not allowed; 80 and 443 are, and those that the operator names in network.ports, or with the host.`,
    )
  const literal = isIP(host) === 0 ? undefined : host
  const target = { url, host, port, literal, isNamed: opening === 'named' }
  if (literal !== undefined) requireReachable(target, [literal], bounds.rules)
  else if (isLocal.test(host)) requireReachable(target, [loopbackFor(target, bounds.rules)], bounds.rules)
  return target
}

/** How a host and port stand to the patterns of hosts: one that names a port opens that one alone, and any other those that are open anyway. */
export function findOpening(
  host: string,
  port: number,
  { hosts, rules }: UrlBounds,
): 'named' | 'open' | 'no port' | 'no host' {
  const own = hosts.filter((pattern) => matchHost(pattern, host)).map(readHostPattern)
  if (own.length === 0) return 'no host'
  if (own.some((pattern) => pattern.port === port)) return 'named'
  const isOpen = own.some((pattern) => pattern.port === undefined) && rules.allowsPort(host, port)
  return isOpen ? 'open' : 'no port'
}

/** RFC 6761: names that stand for this machine, whatever a resolver says. */
const isLocal = /(^|\.)localhost$/

/** The loopback address that may be connected to, if either may. */
function loopbackFor(target: Target, rules: NetworkRules): string {
  return rules.findFault('::1', target) === undefined ? '::1' : '127.0.0.1'
}

/** Refuses a host of which any address must not be connected to. */
export function requireReachable(target: Target, addresses: readonly string[], rules: NetworkRules): void {
  for (const address of addresses) {
    const fault = rules.findFault(address, target)
    if (fault === undefined) continue
    const what = address === target.host ? `"${address}"` : `"${target.host}" stands for "${address}", which`
    throw refused(
      'host_blocked',
      `${what} is ${fault}, so nothing was sent. Only the operator can allow it, in the configuration of the network.`,
    )
  }
}

function refused(reason: string, message: string): ToolFailure {
  return new ToolFailure({ code: 'SANDBOX.CAPABILITY_BLOCKED', reason, message })
}

/** What a server redirects to is a stranger's text, so it is not repeated. */
function nameOf(text: string, base: string | undefined): string {
  return base === undefined ? `"${shorten(text, 200)}"` : `What "${new URL(base).host}" redirects to`
}

function notUrl(text: string, base: string | undefined): ToolFailure {
  return new ToolFailure({
    code: 'SCHEMA.VALIDATION_FAILED',
    reason: 'invalid_input',
    message: `${nameOf(text, base)} is not a URL. Give a whole one, such as "https://example.com/page".`,
  })
}
