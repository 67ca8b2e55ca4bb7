import { readHostPattern } from '../../../kit/match/host-pattern.ts'
import { findReservation } from './find-reservation.ts'
import type { ProxyDoor } from './network-entry.ts'
import { findOpening, readUrl, requireReachable, type Target, type UrlBounds } from './read-url.ts'
import { lookUp, type LookupAbout } from './resolve-host.ts'

/**
 * The ports at which a host may be connected to, of those that are open for anything. Rejects with a `ToolFailure` where there is none, or no
 * such host.
 */
export async function findPorts(
  name: string,
  bounds: UrlBounds,
  about: LookupAbout,
): Promise<readonly number[]> {
  const named = bounds.hosts.flatMap((pattern) => readHostPattern(pattern).port ?? [])
  const ports = [...new Set([...bounds.rules.ports, ...named])]
  const open = ports.filter((port) => findOpening(name, port, bounds).match(/^no /) === null)
  const targets = open.map((port) => readUrl(`https://${name}:${port}/`, bounds))
  const first = targets[0] ?? readUrl(`https://${name}/`, bounds)
  const addresses = await lookUp(first, about)
  const reachable = targets.filter((target) => isReachable(target, addresses, bounds))
  if (reachable.length === 0) requireReachable(first, addresses, bounds.rules)
  return reachable.map(({ port }) => port)
}

function isReachable(target: Target, addresses: readonly string[], { rules }: UrlBounds): boolean {
  return addresses.every((address) => rules.findFault(address, target) === undefined)
}

/** The addresses of this machine that may be connected to, as far as they can be told before anybody asks. */
export function findDoors(bounds: UrlBounds): readonly ProxyDoor[] {
  const named = bounds.hosts
    .map(readHostPattern)
    .flatMap(({ host, port }) => (port === undefined || !isLoopback(host) ? [] : [{ host, port }]))
  const doors = [...named, ...bounds.rules.ownDoors].filter((door) => isOpen(door, bounds))
  return [...new Map(doors.map((door) => [`${door.host} ${door.port}`, door])).values()]
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || findReservation(host) === 'loopback'
}

function isOpen({ host, port }: ProxyDoor, bounds: UrlBounds): boolean {
  const opening = findOpening(host, port, bounds)
  if (opening === 'no host' || opening === 'no port') return false
  const address = host === 'localhost' ? '127.0.0.1' : host
  return bounds.rules.findFault(address, { host, port, isNamed: opening === 'named' }) === undefined
}
