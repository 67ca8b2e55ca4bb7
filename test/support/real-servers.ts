import { createRequire } from 'node:module'

/** How a server of the protocol's authors is started on stdio. */
export function realServer(
  name: 'everything' | 'filesystem' | 'memory',
  ...args: readonly string[]
): { command: string; args: string[] } {
  const path = createRequire(import.meta.url).resolve(`@modelcontextprotocol/server-${name}/dist/index.js`)
  return { command: process.execPath, args: [path, ...args] }
}
