import type { Server } from '@modelcontextprotocol/server'
import type { ListForm } from './list-json.ts'

/** The revision that has tasks and says with each tool whether it can be one. */
const revision = '2025-11-25'

/** How the client of a server may see tools: as tasks too where it speaks the revision that asks for that by tool. */
export function listFormOf(server: Server): ListForm {
  return server.getNegotiatedProtocolVersion() === revision ? 'as_tasks' : 'plain'
}
