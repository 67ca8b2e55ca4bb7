import { fileURLToPath } from 'node:url'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { resultText } from 'handrail'
import { describe, onTestFinished, vi } from 'vitest'
import { createClient } from '../../mcp/connect.ts'
import { environmentOf, onBundle, type Place } from '../../support/command-line.ts'
import { firstOf } from '../../support/rounds.ts'
import { openOutside } from './outside-tools.ts'

/** A program that runs, with tools of a server that is not ours. */
export interface OutsideDoor {
  /** The names and descriptions that a model sees. */
  list(): Promise<{ name: string; description: string }[]>
  call(name: string): Promise<{ ok: boolean; text: string }>
  /** What the program said of its tools on the side. */
  said(): string
  close(): Promise<void>
}

type OpenDoor = (place: Place) => Promise<OutsideDoor>

const library: OpenDoor = async (place) => {
  const written = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  onTestFinished(() => written.mockRestore())
  const runtime = await openOutside(place)
  onTestFinished(() => runtime.close())
  const session = runtime.session()
  return {
    list: async () => session.tools().map(({ name, description }) => ({ name, description })),
    async call(name) {
      const result = await session.call(name)
      return { ok: result.ok, text: resultText(result) }
    },
    said: () => written.mock.calls.map(([text]) => String(text)).join(''),
    close: () => runtime.close(),
  }
}

const mcp: OpenDoor = async (place) => {
  const client = createClient({ era: 'modern' })
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [
      onBundle,
      fileURLToPath(new URL('./serve-outside.ts', import.meta.url)),
      place.project,
      place.user,
      place.store,
    ],
    env: environmentOf(place),
    stderr: 'pipe',
  })
  let said = ''
  transport.stderr?.on('data', (chunk: Buffer) => (said += chunk.toString('utf8')))
  await client.connect(transport)
  onTestFinished(() => client.close())
  return {
    async list() {
      const { tools } = await client.listTools()
      return tools.map(({ name, description = '' }) => ({ name, description }))
    },
    async call(name) {
      const { content, isError } = await client.callTool({ name, arguments: {} })
      return {
        ok: isError !== true,
        text: content.map((block) => ('text' in block ? String(block.text) : '')).join('\n'),
      }
    },
    said: () => said,
    close: () => client.close(),
  }
}

/** The doors of a host's own program. The command line has no tools of servers. */
const doors: readonly (readonly [string, OpenDoor])[] = [
  ['the library', library],
  ['MCP', mcp],
]

/** The same tests at every door of a host's own program; `npm test` tries one. */
export function atOutsideDoors(tests: (open: OpenDoor) => void): void {
  describe.each(firstOf(doors))('with tools of a server, through %s', (_name, open) => tests(open))
}
