import { Client, StreamableHTTPClientTransport, type Transport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { makeDirectory } from '../handrail/load.ts'
import { inFlight, type Contender, type Prepared } from '../harness/contender.ts'
import { nextInput } from '../harness/task.ts'
import {
  gateway,
  layHome,
  startGateway,
  startProxy,
  startUpstream,
  stdioProxy,
  stdioUpstream,
  toServer,
  type Program,
} from './programs.ts'

/** A way from a client to the tool, and what ends it. */
interface Way {
  readonly transport: Transport
  readonly tool: string
  end(): Promise<void> | void
}

/** A client of the SDK at one end, the tool at the other, and something or nothing between. */
export interface Chain {
  readonly name: string
  /** Revision of the client. Default 2025-11-25. */
  readonly era?: 'modern'
  open(): Promise<Way>
}

const behind = 'mcp__up__add'

/** The chains whose client speaks over standard streams. */
export const stdioChains: readonly Chain[] = [
  {
    name: 'direct, stdio',
    open: async () => ({ transport: overStdio(stdioUpstream()), tool: 'add', end: () => {} }),
  },
  {
    name: 'bare proxy, stdio to stdio',
    open: async () => {
      const { command, args } = stdioUpstream()
      return { transport: overStdio(stdioProxy('stdio', command, ...args)), tool: 'add', end: () => {} }
    },
  },
  {
    name: 'handrail serve --stdio, to stdio',
    open: async () => {
      const { directory, remove } = makeDirectory()
      layHome(directory, { up: toServer(stdioUpstream()) })
      return { transport: overStdio(gateway(directory, '--stdio')), tool: behind, end: remove }
    },
  },
]

/** The chains whose client speaks HTTP. */
export const httpChains: readonly Chain[] = [
  {
    name: 'direct, HTTP',
    open: async () => {
      const upstream = await startUpstream()
      return { transport: overHttp(upstream.url), tool: 'add', end: () => upstream.end() }
    },
  },
  {
    name: 'bare proxy, HTTP to HTTP',
    open: async () => {
      const upstream = await startUpstream()
      const proxy = await startProxy('http', upstream.url)
      const end = () => endAll(proxy, upstream)
      return { transport: overHttp(proxy.url), tool: 'add', end }
    },
  },
  { name: 'handrail serve, HTTP to HTTP', open: throughGatewayToHttp },
  { name: 'handrail serve, HTTP to HTTP, client of 2026-07-28', era: 'modern', open: throughGatewayToHttp },
  {
    name: 'bare proxy, HTTP to stdio',
    open: async () => {
      const { command, args } = stdioUpstream()
      const proxy = await startProxy('stdio', command, ...args)
      return { transport: overHttp(proxy.url), tool: 'add', end: () => proxy.end() }
    },
  },
  {
    name: 'handrail serve, HTTP to stdio',
    open: async () => {
      const { directory, remove } = makeDirectory()
      layHome(directory, { up: toServer(stdioUpstream()) })
      const served = await startGateway(directory)
      const end = async () => {
        await served.end()
        remove()
      }
      return { transport: overHttp(served.url), tool: behind, end }
    },
  },
]

async function throughGatewayToHttp(): Promise<Way> {
  const { directory, remove } = makeDirectory()
  const upstream = await startUpstream()
  layHome(directory, { up: { url: upstream.url } })
  const served = await startGateway(directory)
  const end = async () => {
    await endAll(served, upstream)
    remove()
  }
  return { transport: overHttp(served.url), tool: behind, end }
}

async function endAll(...all: readonly { end(): Promise<void> }[]): Promise<void> {
  for (const each of all) await each.end()
}

function overStdio({ command, args }: Program): Transport {
  return new StdioClientTransport({ command, args: [...args], stderr: 'ignore' })
}

function overHttp(url: string): Transport {
  return new StreamableHTTPClientTransport(new URL(url))
}

/** A contender that keeps so many calls of a chain in flight. */
export function toContender(chain: Chain, width: number): Contender {
  return {
    name: chain.name,
    batch: width,
    otherTask: true,
    async prepare(): Promise<Prepared> {
      const way = await chain.open()
      const client = new Client(
        { name: 'bench', version: '1.0.0' },
        { versionNegotiation: { mode: chain.era === 'modern' ? { pin: '2026-07-28' } : 'legacy' } },
      )
      await client.connect(way.transport)
      // A gateway meets its servers by then.
      await client.listTools()
      return {
        round: (calls) => inFlight(width, calls, () => callOnce(client, way.tool)),
        async close() {
          await client.close()
          await way.end()
        },
      }
    },
  }
}

/** Every answer is held to its own input. */
async function callOnce(client: Client, tool: string): Promise<void> {
  const input = nextInput()
  const { content, isError } = await client.callTool({ name: tool, arguments: { ...input } })
  const [first] = content
  const text = first?.type === 'text' ? first.text : ''
  if (isError === true || !text.includes(`{"line":"${input.count} piece of garden hose"`))
    throw new Error(`call ${input.count} gives ${text.slice(0, 300)}`)
}
