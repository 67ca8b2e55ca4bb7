import type { Server, Tool } from '@modelcontextprotocol/server'

/** The revision that has tasks and lists with each tool whether it can be one. */
const revision = '2025-11-25'

const made = new WeakMap<readonly Tool[], Tool[]>()

/** The tools as the client of this server may call them: as tasks too where it speaks the revision that asks for that by tool. */
export function withTaskSupport(tools: Tool[], server: Server): Tool[] {
  if (server.getNegotiatedProtocolVersion() !== revision) return tools
  let marked = made.get(tools)
  if (marked === undefined) {
    marked = tools.map((tool) => ({ ...tool, execution: { taskSupport: 'optional' } }))
    made.set(tools, marked)
  }
  return marked
}
