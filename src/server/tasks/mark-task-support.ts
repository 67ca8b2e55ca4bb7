import type { Server, Tool } from '@modelcontextprotocol/server'

/** The revision that has tasks and says with each tool whether it can be one. */
const revision = '2025-11-25'
const execution = { taskSupport: 'optional' } as const

/** The tools as the client of a server may call them: as tasks too where it speaks the revision that asks for that by tool. */
export function markTaskSupport(tools: Tool[], server: Server): Tool[] {
  // Not kept: clients list seldom, and there may be thousands of tools in each of many sessions.
  return server.getNegotiatedProtocolVersion() === revision
    ? tools.map((tool) => ({ ...tool, execution }))
    : tools
}
