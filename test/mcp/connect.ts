import { fileURLToPath } from 'node:url'
import { Client, StreamableHTTPClientTransport, type ElicitResult } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { expect, vi } from 'vitest'
import { serveHttp, type HttpOptions } from '../../src/mcp/server/http/serve-http.ts'
import { onBundle } from '../support/command-line.ts'
import { createDemoRuntime } from './demo-tools.ts'

export type Era = 'legacy' | 'modern'
export type Wire = 'stdio' | 'http'

export interface ClientOptions {
  readonly era: Era
  /** Answers questions to the person; without it the client says that it cannot ask. */
  readonly onAsk?: (message: string) => ElicitResult | Promise<ElicitResult>
}

/** What Node is started with to serve the demo tools on standard streams. */
export const stdioServer = [onBundle, fileURLToPath(new URL('./stdio-server.ts', import.meta.url))]

/** A real client that has not connected yet. */
export function createClient({ era, onAsk }: ClientOptions): Client {
  const client = new Client(
    { name: 'test', version: '1.0.0' },
    {
      capabilities: onAsk === undefined ? {} : { elicitation: { form: {} } },
      versionNegotiation: { mode: era === 'legacy' ? 'legacy' : { pin: '2026-07-28' } },
    },
  )
  if (onAsk !== undefined)
    client.setRequestHandler('elicitation/create', ({ params }) => onAsk(params.message))
  return client
}

/** Lists until the tools of a server are there, which a busy machine may take long to start. */
export async function listUntil(client: Client, name: string): Promise<void> {
  await vi.waitFor(
    async () => {
      const { tools } = await client.listTools()
      expect(tools.map((tool) => tool.name)).toContain(name)
    },
    { interval: 200 },
  )
}

export interface Connected extends AsyncDisposable {
  readonly client: Client
}

/** A client of the demo tools over this wire; disposing it ends client and server. */
export async function connect(wire: Wire, options: ClientOptions): Promise<Connected> {
  const client = createClient(options)
  if (wire === 'stdio') {
    await client.connect(
      new StdioClientTransport({ command: process.execPath, args: stdioServer, stderr: 'ignore' }),
    )
    return { client, [Symbol.asyncDispose]: () => client.close() }
  }
  const server = await startHttp()
  await client.connect(new StreamableHTTPClientTransport(new URL(server.url)))
  return {
    client,
    async [Symbol.asyncDispose]() {
      await client.close()
      await server.close()
    },
  }
}

/** A server of the demo tools on a free port that says nothing on the terminal. */
export function startHttp(options: Partial<HttpOptions> = {}) {
  return serveHttp({ runtime: createDemoRuntime(), port: 0, closeGraceMs: 100, log: () => {}, ...options })
}

/** The text of a result's first block. */
export function textOf(result: { content: readonly { type: string; text?: unknown }[] }): string {
  return String(result.content[0]?.text)
}
