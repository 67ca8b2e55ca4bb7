import type { Server } from '@modelcontextprotocol/server'
import { all, type ChangeKind, type Changes } from '../session/changes.ts'

/** Tells a client over its connection, from now on, that it should ask for a list again. */
export function notifyChanges(server: Server, changes: Changes, log: (line: string) => void): () => void {
  const onFault = (cause: unknown): void => log(`mcp: a change could not be told: ${String(cause)}`)
  const send = (kind: ChangeKind): Promise<void> =>
    kind === 'tools' ? server.sendToolListChanged() : server.sendResourceListChanged()
  return changes.follow({ kinds: all, notify: (kind) => void send(kind).catch(onFault), onFault })
}
