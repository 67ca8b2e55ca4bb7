import type { OriginClient } from '../../contract/mcp/tool-feed.ts'
import type { NetworkOptions } from './base/network-entry.ts'

/** A way to one server of the operator. Nothing of the network is loaded before the first request. */
export function createDoor(address: string, options: NetworkOptions): OriginClient {
  let opened: Promise<OriginClient> | undefined
  const open = () => (opened ??= load(address, options))
  return {
    request: async (url, init) => (await open()).request(url, init),
    async close() {
      await (await opened)?.close()
    },
  }
}

async function load(address: string, options: NetworkOptions): Promise<OriginClient> {
  const { openDoor } = await import('./open-door.ts')
  return openDoor(address, options)
}
