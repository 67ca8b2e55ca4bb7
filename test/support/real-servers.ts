import { createRequire } from 'node:module'

/** How a server of the protocol's authors is started on stdio. */
export function realServer(
  name: 'everything' | 'filesystem' | 'memory',
  ...args: readonly string[]
): { command: string; args: string[]; read: string[] } {
  const path = createRequire(import.meta.url).resolve(`@modelcontextprotocol/server-${name}/dist/index.js`)
  const folder = path.slice(0, path.lastIndexOf('node_modules') + 'node_modules'.length)
  return { command: process.execPath, args: [path, ...args], read: [folder] }
}
