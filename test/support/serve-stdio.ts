import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { environmentOf, program, type Place } from './command-line.ts'

/** A way for a client to a `handrail serve --stdio` of its own, for the project of this place. */
export function toServer(place: Place, options: readonly string[] = []): StdioClientTransport {
  return new StdioClientTransport({
    command: process.execPath,
    args: [program, 'serve', '--stdio', '--project', place.project, ...options],
    env: environmentOf(place),
    stderr: 'ignore',
  })
}
