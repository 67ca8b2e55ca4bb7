// The bare pass-through proxy that gateways are held to: server and client of the SDK, and nothing else.
// `proxy.ts stdio|http stdio <command> <argument>…` or `proxy.ts stdio|http http <url>`. On HTTP it prints its port.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js'

const [front, back, target = '', ...args] = process.argv.slice(2)
const client = new Client({ name: 'proxy', version: '1.0.0' })
await client.connect(
  back === 'http'
    ? new StreamableHTTPClientTransport(new URL(target))
    : new StdioClientTransport({ command: target, args }),
)
const server = new Server({ name: 'proxy', version: '1.0.0' }, { capabilities: { tools: {} } })
server.setRequestHandler(ListToolsRequestSchema, ({ params }) => client.listTools(params))
server.setRequestHandler(CallToolRequestSchema, ({ params }) => client.callTool(params))
if (front === 'http') {
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: () => 'one' })
  await server.connect(transport)
  const web = createServer((request, response) => void transport.handleRequest(request, response))
  // Listening on a port, so it is no path.
  web.listen(0, '127.0.0.1', () => console.log((web.address() as AddressInfo).port))
} else await server.connect(new StdioServerTransport())
