import type { NetworkConfiguration } from '../../../contract/configuration.ts'
import { matchHost } from '../../../kit/match/match-host.ts'
import { readPrivateHost, type PrivateHost } from '../../../kit/match/read-private-host.ts'
import { findReservation, isInRange, type Reservation } from './find-reservation.ts'

/** Which ports and addresses the operator lets through. */
export interface NetworkRules {
  /** Whether a URL may name this port of this host. */
  allowsPort(host: string, port: number): boolean
  /** What this address is, where no connection to it must be made for this host; undefined if one may. */
  findFault(address: string, target: RuledTarget): string | undefined
  /** The ports that are open for some host. */
  readonly ports: readonly number[]
  /** The addresses of this machine that may be reached, each with a port. */
  readonly ownDoors: readonly { readonly host: string; readonly port: number }[]
}

/** What is to be connected to. */
export interface RuledTarget {
  readonly host: string
  readonly port: number
  /** Whether a pattern of hosts names this port for it, which is open then. */
  readonly isNamed: boolean
}

const standardPorts: readonly number[] = [80, 443]

/** What a name in the configuration may stand for. Nothing that belongs to the machine's provider, such as a metadata address. */
const ownNetwork: readonly Reservation[] = ['loopback', 'private', 'uniqueLocal', 'carrierGradeNat']

/** A part of the own network; `isOnly` where it was named for one program alone. */
type Own = PrivateHost & { readonly isOnly: boolean }

/** The rules of a configuration, and for what the operator named of the own network for one program alone. */
export function createNetworkRules(
  { ports = [], privateHosts = [] }: NetworkConfiguration,
  ownHosts: readonly string[] = [],
): NetworkRules {
  const open = new Set([...standardPorts, ...ports])
  const read = (text: string, isOnly: boolean): Own[] => {
    const entry = readPrivateHost(text)
    return entry === undefined ? [] : [{ ...entry, isOnly }]
  }
  const own = [
    ...privateHosts.flatMap((text) => read(text, false)),
    ...ownHosts.flatMap((text) => read(text, true)),
  ]
  const isForPort = (entry: Own, port: number) =>
    entry.port === undefined ? open.has(port) : entry.port === port
  return {
    allowsPort: (host, port) =>
      open.has(port) || own.some((entry) => entry.port === port && couldBe(entry, host)),
    findFault(address, { host, port, isNamed }) {
      const found = findReservation(address)
      const isOwn = own.some((entry) => isForPort(entry, port) && covers(entry, address, { host, found }))
      if (isOwn) return undefined
      if (found !== undefined) return `not an address of the public internet (${found})`
      return isNamed || open.has(port) ? undefined : `public, where port ${port} is not open`
    },
    ports: [...new Set([...open, ...own.flatMap(({ port }) => port ?? [])])],
    ownDoors: own.flatMap((entry) => {
      const host = toLoopback(entry)
      const ports = entry.port === undefined ? [...open] : [entry.port]
      return host === undefined ? [] : ports.map((port) => ({ host, port }))
    }),
  }
}

/** The single loopback address, or the name of it, that an entry stands for. */
function toLoopback(entry: PrivateHost): string | undefined {
  if (entry.kind === 'name') return entry.pattern === 'localhost' ? entry.pattern : undefined
  const isSingle = entry.prefix === (entry.family === 4 ? 32 : 128)
  return isSingle && findReservation(entry.address) === 'loopback' ? entry.address : undefined
}

/** A range may be meant by any name: the addresses tell, later. */
function couldBe(entry: PrivateHost, host: string): boolean {
  return entry.kind === 'range' || matchHost(entry.pattern, host)
}

function covers(
  entry: Own,
  address: string,
  { host, found }: { host: string; found: Reservation | undefined },
): boolean {
  if (found === 'unspecified' || found === 'multicast' || found === 'broadcast') return false
  if (entry.kind === 'range') return isInRange(address, entry)
  if (!matchHost(entry.pattern, host)) return false
  // Some networks give names addresses that belong to no host, and lead them on.
  return found === undefined || ownNetwork.includes(found) || (entry.isOnly && found === 'reserved')
}
