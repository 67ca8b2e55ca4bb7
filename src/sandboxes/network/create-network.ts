import type { Network } from '../../contract/network.ts'
import type { NetworkEntry, NetworkOptions, OpenNetwork } from './network-entry.ts'

/** The network as calls may see it. Nothing of it is loaded before the first URL. */
export function createNetwork(options: NetworkOptions): (entry: NetworkEntry) => Network {
  let opened: Promise<OpenNetwork> | undefined
  const open = () => (opened ??= load(options))
  return (entry) => ({
    resolve: async (url) => (await open()).resolve(url, entry),
    request: async (request) => (await open()).request(request, entry),
  })
}

async function load(options: NetworkOptions): Promise<OpenNetwork> {
  const { openNetwork } = await import('./open-network.ts')
  return openNetwork(options)
}
