import {
  Client,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client'
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
import { startHub, startMcpProxy, startSupergateway } from './peers.ts'

/** A way from a client to the tool, and what ends it. */
interface Way {
  readonly transport: Transport
  /** Called in turn. */
  readonly tools: readonly string[]
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
    open: async () => ({ transport: overStdio(stdioUpstream()), tools: ['add'], end: () => {} }),
  },
  {
    name: 'bare proxy, stdio to stdio',
    open: async () => {
      const { command, args } = stdioUpstream()
      return { transport: overStdio(stdioProxy('stdio', command, ...args)), tools: ['add'], end: () => {} }
    },
  },
  {
    name: 'handrail serve --stdio, to stdio',
    open: async () => {
      const { directory, remove } = makeDirectory()
      layHome(directory, { up: toServer(stdioUpstream()) })
      return { transport: overStdio(gateway(directory, '--stdio')), tools: [behind], end: remove }
    },
  },
]

/** The chains whose client speaks HTTP. */
export const httpChains: readonly Chain[] = [
  {
    name: 'direct, HTTP',
    open: async () => {
      const upstream = await startUpstream()
      return { transport: overHttp(upstream.url), tools: ['add'], end: () => upstream.end() }
    },
  },
  {
    name: 'bare proxy, HTTP to HTTP',
    open: async () => {
      const upstream = await startUpstream()
      const proxy = await startProxy('http', upstream.url)
      const end = () => endAll(proxy, upstream)
      return { transport: overHttp(proxy.url), tools: ['add'], end }
    },
  },
  { name: 'handrail serve, HTTP to HTTP', open: throughGatewayToHttp },
  { name: 'handrail serve, HTTP to HTTP, client of 2026-07-28', era: 'modern', open: throughGatewayToHttp },
  {
    name: 'bare proxy, HTTP to stdio',
    open: async () => {
      const { command, args } = stdioUpstream()
      const proxy = await startProxy('stdio', command, ...args)
      return { transport: overHttp(proxy.url), tools: ['add'], end: () => proxy.end() }
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
      return { transport: overHttp(served.url), tools: [behind], end }
    },
  },
  {
    name: 'mcp-hub, SSE to stdio',
    open: () => throughHub({ up: stdioUpstream() }),
  },
  {
    name: 'mcp-proxy, HTTP to stdio',
    open: async () => {
      const peer = await startMcpProxy(stdioUpstream())
      return { transport: overHttp(peer.url), tools: ['add'], end: () => peer.end() }
    },
  },
  {
    name: 'supergateway, HTTP to stdio',
    open: async () => {
      const peer = await startSupergateway(stdioUpstream())
      return { transport: overHttp(peer.url), tools: ['add'], end: () => peer.end() }
    },
  },
]

const fiveNames = ['one', 'two', 'three', 'four', 'five']

/** Gateways in front of five servers on their standard streams. */
export const fiveChains: readonly Chain[] = [
  {
    name: 'mcp-hub, SSE, 5 servers on stdio',
    open: () => throughHub(Object.fromEntries(fiveNames.map((name) => [name, stdioUpstream()]))),
  },
  {
    name: 'handrail serve, HTTP, 5 servers on stdio',
    open: async () => {
      const { directory, remove } = makeDirectory()
      layHome(directory, Object.fromEntries(fiveNames.map((name) => [name, toServer(stdioUpstream())])))
      const served = await startGateway(directory)
      const end = async () => {
        await served.end()
        remove()
      }
      return { transport: overHttp(served.url), tools: fiveNames.map((name) => `mcp__${name}__add`), end }
    },
  },
]

async function throughHub(servers: Readonly<Record<string, Program>>): Promise<Way> {
  const { directory, remove } = makeDirectory()
  const hub = await startHub(directory, servers)
  const end = async () => {
    await hub.end()
    remove()
  }
  const tools = Object.keys(servers).map((name) => `${name}__add`)
  return { transport: new SSEClientTransport(new URL(hub.url)), tools, end }
}

async function throughGatewayToHttp(): Promise<Way> {
  const { directory, remove } = makeDirectory()
  const upstream = await startUpstream()
  layHome(directory, { up: { url: upstream.url } })
  const served = await startGateway(directory)
  const end = async () => {
    await endAll(served, upstream)
    remove()
  }
  return { transport: overHttp(served.url), tools: [behind], end }
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
        round: (calls) => inFlight(width, calls, () => callOnce(client, way.tools)),
        async close() {
          await client.close()
          await way.end()
        },
      }
    },
  }
}

/** Every answer is held to its own input. */
async function callOnce(client: Client, tools: readonly string[]): Promise<void> {
  const input = nextInput()
  const name = tools[input.count % tools.length] ?? ''
  const { content, isError } = await client.callTool({ name, arguments: { ...input } })
  const [first] = content
  const text = first?.type === 'text' ? first.text : ''
  if (isError === true || !text.includes(`{"line":"${input.count} piece of garden hose"`))
    throw new Error(`call ${input.count} gives ${text.slice(0, 300)}`)
}
