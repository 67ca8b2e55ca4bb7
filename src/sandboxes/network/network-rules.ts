import type { NetworkConfiguration } from '../../contract/configuration.ts'
import { matchHost } from '../../kit/match-host.ts'
import { readPrivateHost, type PrivateHost } from '../../kit/read-private-host.ts'
import { findReservation, isInRange, type Reservation } from './find-reservation.ts'

/** Which ports and addresses the operator lets through. */
export interface NetworkRules {
  /** Whether a URL may name this port of this host. */
  allowsPort(host: string, port: number): boolean
  /** What this address is, where no connection to it must be made for this host; undefined where one may. */
  findFault(address: string, target: { host: string; port: number }): string | undefined
}

const standardPorts: readonly number[] = [80, 443]

/** What a name in the configuration may stand for. Nothing that belongs to the machine's provider, such as a metadata address. */
const ownNetwork: readonly Reservation[] = ['loopback', 'private', 'uniqueLocal', 'carrierGradeNat']

/** The rules of a configuration. */
export function createNetworkRules({ ports = [], privateHosts = [] }: NetworkConfiguration): NetworkRules {
  const open = new Set([...standardPorts, ...ports])
  const own = privateHosts.flatMap((text) => readPrivateHost(text) ?? [])
  const isForPort = (entry: PrivateHost, port: number) =>
    entry.port === undefined ? open.has(port) : entry.port === port
  return {
    allowsPort: (host, port) =>
      open.has(port) || own.some((entry) => entry.port === port && couldBe(entry, host)),
    findFault(address, { host, port }) {
      const found = findReservation(address)
      const isOwn = own.some((entry) => isForPort(entry, port) && covers(entry, address, { host, found }))
      if (isOwn) return undefined
      if (found !== undefined) return `no address of the public internet (${found})`
      return open.has(port) ? undefined : `public, where port ${port} is not open`
    },
  }
}

/** A range may be meant by any name: the addresses tell, later. */
function couldBe(entry: PrivateHost, host: string): boolean {
  return entry.kind === 'range' || matchHost(entry.pattern, host)
}

function covers(
  entry: PrivateHost,
  address: string,
  { host, found }: { host: string; found: Reservation | undefined },
): boolean {
  if (found === 'unspecified' || found === 'multicast' || found === 'broadcast') return false
  if (entry.kind === 'range') return isInRange(address, entry)
  return matchHost(entry.pattern, host) && (found === undefined || ownNetwork.includes(found))
}
