import type { NetworkConfiguration } from '../../../contract/configuration.ts'
import type { WebRequest, WebResponse } from '../../../contract/services/network.ts'
import type { Profile } from '../../../contract/base/profile.ts'
import type { CommandNetwork, PermitHost } from '../../../contract/services/sandbox.ts'

/** Returns all addresses of a host name; none, or a rejection, where it has none. */
export type HostLookup = (host: string) => Promise<readonly string[]>

/** What the network of a runtime stands on. */
export interface NetworkOptions extends NetworkConfiguration {
  /** Default: the resolver of the system. */
  lookup?: HostLookup | undefined
}

/** One call's part in the network. */
export interface NetworkEntry {
  profile: Pick<Profile, 'hosts'>
  permitHost: PermitHost | undefined
  /** What of the own network may be reached beside what the options say. */
  ownHosts?: readonly string[] | undefined
  /** Each aborts its requests. */
  signals(): readonly AbortSignal[]
}

/** The network, with an entry for each question. */
export interface OpenNetwork {
  resolve(url: string, entry: NetworkEntry): { url: string; host: string }
  request(request: WebRequest, entry: NetworkEntry): Promise<WebResponse>
  openProxy(place: ProxyPlace, entry: NetworkEntry): Promise<NetworkProxy>
}

/** Where a proxy listens. */
export interface ProxyPlace {
  /** Where its socket is made. */
  readonly path: string
  /** Told of the first connection. That one is answered with a word and ended: the client knows then that all others will work. */
  readonly onGreeting: () => void
  /** Told of each host, once, that was not connected to. */
  readonly onRefused?: ((host: string) => void) | undefined
}

/** Where the name server inside asks a proxy for the ports of a name that may be connected to: a list of numbers, or a refusal. */
export const namePath = '/.name/'

/** An address of this machine, by itself or as `localhost`, that may be connected to. */
export interface ProxyDoor {
  readonly host: string
  readonly port: number
}

/** A proxy on a socket of its own, for the programs of one call. Close it: that ends every connection through it. */
export interface NetworkProxy {
  readonly doors: readonly ProxyDoor[]
  /** What was asked of it so far. */
  report(): CommandNetwork
  close(): void
}
