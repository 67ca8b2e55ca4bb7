// A server of MCP on Streamable HTTP with the tool "echo", on the port that it is started with. It answers each request alone.
import { createServer } from 'node:http'

const results = {
  initialize: (params) => ({
    protocolVersion: params.protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'web', version: '1' },
  }),
  'tools/list': () => ({ tools: [{ name: 'echo', inputSchema: { type: 'object' } }] }),
  'tools/call': (params) => ({ content: [{ type: 'text', text: String(params.arguments?.text) }] }),
  ping: () => ({}),
}

createServer((request, response) => {
  let body = ''
  request.on('data', (bytes) => (body += bytes))
  request.on('end', () => {
    const { id, method, params = {} } = body === '' ? {} : JSON.parse(body)
    if (id === undefined) return response.writeHead(request.method === 'POST' ? 202 : 405).end()
    const answer = Object.hasOwn(results, method)
      ? { result: results[method](params) }
      : { error: { code: -32_601, message: 'unknown' } }
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ jsonrpc: '2.0', id, ...answer }))
  })
}).listen(Number(process.argv[2]), '127.0.0.1', () => console.log('listening'))
