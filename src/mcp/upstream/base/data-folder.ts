import { join } from 'node:path'
import type { FeedHost } from '../../../contract/mcp/tool-feed.ts'
import type { UpstreamServer } from '../../../contract/mcp/upstream.ts'
import { toSegment } from '../../../kit/names/name-segment.ts'

/** What a program of a server runs for. */
export interface DataOwner {
  readonly server: UpstreamServer
  readonly host: Pick<FeedHost, 'programs'>
  readonly tenant: string
  /** Where the programs of servers keep their data. Undefined: nowhere. */
  readonly folder?: string | undefined
}

/** Where the program of a server keeps its data for a tenant: its home, which is there again when it is started again. */
export function findDataFolder(owner: DataOwner): string | undefined {
  return findFolder(owner, '')
}

/** Where what it makes beside its code is kept: in no folder of its own, so that it cannot put anything in the place of this one. */
export function findBesideFolder(owner: DataOwner): string | undefined {
  return findFolder(owner, '.beside')
}

function findFolder({ server, host, tenant, folder }: DataOwner, inside: string): string | undefined {
  if (folder === undefined) return undefined
  const name = `${toSegment(server.name, 64)}${tenant === 'local' ? '' : `@${tenant}`}`
  return host.programs.ownFolder(tenant, join(folder, inside, name))
}
