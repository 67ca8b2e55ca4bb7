// A server of MCP as it stands behind a gateway, on the SDK that most servers are written with:
// `upstream.ts stdio|http [--tools N] [--servers N] [--port N] [--log FILE]`. Its tool `add` is the shared task; with --log each number
// that it is called with is appended to a file. On HTTP it serves so many servers at `/0`, `/1`, … and prints its port.
import { randomUUID } from 'node:crypto'
import { appendFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { parseArgs } from 'node:util'
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { runTask, taskDescription, taskSchema, type OrderLine } from '../harness/task.ts'
import { makeToolList } from './tool-list.ts'

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    tools: { type: 'string', default: '0' },
    servers: { type: 'string', default: '1' },
    port: { type: 'string', default: '0' },
    log: { type: 'string' },
    // By which others find it.
    mark: { type: 'string' },
  },
})

function createUpstream(): Server {
  const server = new Server({ name: 'upstream', version: '1.0.0' }, { capabilities: { tools: {} } })
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: [
      { name: 'add', description: taskDescription, inputSchema: taskSchema },
      ...makeToolList(Number(values.tools)),
    ],
  }))
  server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
    // Its callers check what they send.
    const line = params.arguments as unknown as OrderLine
    if (values.log !== undefined) appendFileSync(values.log, `${line.count}\n`)
    return { content: [{ type: 'text', text: JSON.stringify(await runTask(line)) }] }
  })
  return server
}

async function serveHttp(): Promise<void> {
  const sessions = new Map<string, StreamableHTTPServerTransport>()
  const open = async (): Promise<StreamableHTTPServerTransport> => {
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void sessions.set(id, transport),
    })
    await createUpstream().connect(transport)
    return transport
  }
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const id = String(request.headers['mcp-session-id'] ?? '')
    if (Number(request.url?.slice(1)) >= Number(values.servers)) response.writeHead(404).end()
    else if (id !== '' && !sessions.has(id)) response.writeHead(404).end()
    else await (sessions.get(id) ?? (await open())).handleRequest(request, response)
  }
  const server = createServer((request, response) => void answer(request, response))
  server.listen(Number(values.port), '127.0.0.1', () => {
    // Listening on a port, so it is no path.
    process.stdout.write(`${(server.address() as AddressInfo).port}\n`)
  })
}

if (positionals[0] === 'http') await serveHttp()
else await createUpstream().connect(new StdioServerTransport())
