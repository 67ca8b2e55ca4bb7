import { randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import {
  ProtocolError,
  ProtocolErrorCode,
  SUPPORTED_PROTOCOL_VERSIONS,
  Server,
  WebStandardStreamableHTTPServerTransport,
  createMcpHandler,
  createRequestStateCodec,
  hostHeaderValidationResponse,
  isLegacyRequest,
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  originValidationResponse,
} from '@modelcontextprotocol/server'
import { fixturePrompts, fixtureResources, getPrompt, readResource } from './fixture-prompts.ts'
import { fixtureTools, type FixtureHost } from './fixture-tools.ts'

/** A running fixture. */
export interface Fixture {
  readonly url: string
  /** Ends every connection. A second time does nothing. */
  close(): Promise<void>
}

/**
 * A server with everything that the server scenarios of the conformance suite ask for, on Streamable HTTP on loopback, in both eras:
 * with sessions to 2025-11-25, and each request alone from 2026-07-28.
 */
export async function startFixture(port = 0): Promise<Fixture> {
  const sessions = new Map<string, { server: Server; transport: WebStandardStreamableHTTPServerTransport }>()
  const states = createRequestStateCodec<{ round: number }>({ key: randomBytes(32), ttlSeconds: 600 })
  const host: FixtureHost = {
    changed(what) {
      if (what === 'tools') modern.notify.toolsChanged()
      else modern.notify.promptsChanged()
      for (const { server } of sessions.values())
        void (what === 'tools' ? server.sendToolListChanged() : server.sendPromptListChanged()).catch(
          () => {},
        )
    },
    mint: (state) => states.mint(state),
  }
  const build = (): Server => buildServer(host, states)
  const modern = createMcpHandler(build, { legacy: 'reject' })

  const openSession = async (): Promise<WebStandardStreamableHTTPServerTransport> => {
    const server = build()
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (id) => void sessions.set(id, { server, transport }),
      onsessionclosed: (id) => void sessions.delete(id),
    })
    await server.connect(transport)
    return transport
  }
  const answer = async (request: Request): Promise<Response> => {
    const refused =
      hostHeaderValidationResponse(request, localhostAllowedHostnames()) ??
      originValidationResponse(request, localhostAllowedOrigins())
    if (refused !== undefined) return refused
    if (!(await isLegacyRequest(request.clone()))) return modern.fetch(request)
    const session = sessions.get(request.headers.get('mcp-session-id') ?? '')
    if (session !== undefined) return session.transport.handleRequest(request)
    if (request.headers.has('mcp-session-id'))
      return new Response('There is no such session.', { status: 404 })
    return (await openSession()).handleRequest(request)
  }
  const listener = createServer((request, response) => void carry(request, response, answer))
  listener.listen(port, '127.0.0.1')
  await once(listener, 'listening')
  const { port: taken } = listener.address() as AddressInfo
  let closed = false
  return {
    url: `http://127.0.0.1:${taken}/mcp`,
    async close() {
      if (closed) return
      closed = true
      await modern.close()
      await Promise.all([...sessions.values()].map(({ server }) => server.close()))
      listener.closeAllConnections()
      await new Promise((resolve) => listener.close(resolve))
    },
  }
}

function buildServer(
  host: FixtureHost,
  states: ReturnType<typeof createRequestStateCodec<{ round: number }>>,
): Server {
  const server = new Server(
    { name: 'handrail-conformance-fixture', version: '1.0.0' },
    {
      capabilities: {
        tools: { listChanged: true },
        prompts: { listChanged: true },
        resources: { subscribe: true, listChanged: true },
        completions: {},
        logging: {},
      },
      supportedProtocolVersions: [...SUPPORTED_PROTOCOL_VERSIONS, '2026-07-28'],
      requestState: { verify: (state, context) => states.verify(state, context) },
    },
  )
  const watched = new Set<string>()
  server.setRequestHandler('tools/list', () => ({
    tools: [...fixtureTools.values()].map(({ definition }) => definition),
  }))
  server.setRequestHandler('tools/call', ({ params }, context) => {
    const found = fixtureTools.get(params.name)
    if (found === undefined)
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no tool "${params.name}".`)
    return found.run(params.arguments ?? {}, context, host)
  })
  server.setRequestHandler('prompts/list', () => ({ prompts: fixturePrompts }))
  server.setRequestHandler('prompts/get', ({ params }, context) =>
    getPrompt(params.name, params.arguments ?? {}, context),
  )
  server.setRequestHandler('resources/list', () => ({ resources: fixtureResources }))
  server.setRequestHandler('resources/templates/list', () => ({
    resourceTemplates: [{ uriTemplate: 'test://template/{id}/data', name: 'data' }],
  }))
  server.setRequestHandler('resources/read', ({ params }) => readResource(params.uri))
  server.setRequestHandler('resources/subscribe', ({ params }) => {
    watched.add(params.uri)
    return {}
  })
  server.setRequestHandler('resources/unsubscribe', ({ params }) => {
    watched.delete(params.uri)
    return {}
  })
  server.setRequestHandler('completion/complete', ({ params }) => ({
    completion: { values: [`${params.argument.value}ing`], total: 1, hasMore: false },
  }))
  return server
}

/** Between Node's own server and the forms of the web. */
async function carry(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  answer: (request: Request) => Promise<Response>,
): Promise<void> {
  const gone = new AbortController()
  outgoing.on('close', () => gone.abort())
  try {
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(chunk as Buffer)
    const headers = Object.entries(incoming.headers).map(([name, value]): [string, string] => [
      name,
      String(value),
    ])
    const {
      status,
      headers: said,
      body,
    } = await answer(
      new Request(`http://${incoming.headers.host ?? 'localhost'}${incoming.url ?? '/'}`, {
        method: incoming.method ?? 'GET',
        headers,
        signal: gone.signal,
        ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
      }),
    )
    outgoing.writeHead(status, Object.fromEntries(said))
    outgoing.flushHeaders()
    if (body === null) outgoing.end()
    else await pipeline(Readable.fromWeb(body as Parameters<typeof Readable.fromWeb>[0]), outgoing)
  } catch (error) {
    if (outgoing.destroyed) return
    console.error(error)
    outgoing.destroy()
  }
}

if (import.meta.main) console.log((await startFixture(Number(process.argv[2] ?? 0))).url)
