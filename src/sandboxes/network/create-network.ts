import type { Network } from '../../contract/services/network.ts'
import type {
  NetworkEntry,
  NetworkOptions,
  NetworkProxy,
  OpenNetwork,
  ProxyPlace,
} from './base/network-entry.ts'

/** The network of a runtime. */
export interface LazyNetwork {
  /** As one call may see it. */
  enter(entry: NetworkEntry): Network
  /** A proxy for the programs of one call. Close it. */
  openProxy(place: ProxyPlace, entry: NetworkEntry): Promise<NetworkProxy>
}

/** The network as calls may see it. Nothing of it is loaded before the first URL. */
export function createNetwork(options: NetworkOptions): LazyNetwork {
  let opened: Promise<OpenNetwork> | undefined
  const open = () => (opened ??= load(options))
  return {
    enter: (entry) => ({
      resolve: async (url) => (await open()).resolve(url, entry),
      request: async (request) => (await open()).request(request, entry),
    }),
    openProxy: async (place, entry) => (await open()).openProxy(place, entry),
  }
}

async function load(options: NetworkOptions): Promise<OpenNetwork> {
  const { openNetwork } = await import('./open-network.ts')
  return openNetwork(options)
}
