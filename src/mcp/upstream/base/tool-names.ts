import { toSegment } from '../../../kit/names/name-segment.ts'

/** The canonical name of a server's tool: `mcp.<server>.<tool>`. Two tools never share one, whatever letters they are named with. */
export function toToolName(server: string, tool: string): string {
  return `${toSourceName(server)}.${toSegment(tool, 120)}`
}

/** The id of a server as a source of tools: `mcp.<server>`. */
export function toSourceName(server: string): string {
  return `mcp.${toSegment(server, 64)}`
}
