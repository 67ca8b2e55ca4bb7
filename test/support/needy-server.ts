import { join } from 'node:path'
import { makeFolder } from './project.ts'

/** Answers like a server of MCP, once it has what it needs. */
const program = `
import { readFileSync, writeFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
const [data] = process.argv.slice(2)
if (data !== undefined) readFileSync(data)
if (process.env.NEEDS_FOLDER) console.error("EROFS: read-only file system, open '/usr/share/x'")
if (process.env.NEEDS_FOLDER) writeFileSync(data + '.seen', 'seen')
if (process.env.NEEDS_KEY && !process.env.SHOP_API_KEY) {
  console.error('SHOP_API_KEY environment variable is required')
  process.exit(1)
}
if (process.env.SHOP_TOKEN) console.error('token ' + process.env.SHOP_TOKEN)
if (process.env.NEEDS_HOST) {
  try {
    await fetch('http://' + ['api', 'shop', 'example'].join('.') + '/v1')
  } catch (error) {
    console.error(String(error.cause ?? error))
    process.exit(2)
  }
}
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line)
  const results = {
    initialize: { protocolVersion: params?.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'needy', version: '1' } },
    'tools/list': { tools: [{ name: 'look', inputSchema: { type: 'object' } }] },
    'tools/call': { content: [{ type: 'text', text: 'seen' }] },
  }
  const answer = method in results ? { result: results[method] } : { error: { code: -32601, message: 'unknown' } }
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, ...answer }))
})
`

/** A server that needs the folder of its program, and a file elsewhere. */
export function makeNeedyServer() {
  const [code, data] = [
    makeFolder({ 'needy.mjs': program, 'package.json': '{}' }),
    makeFolder({ 'data.txt': 'x' }),
  ]
  return {
    code,
    data,
    command: process.execPath,
    args: [join(code, 'needy.mjs'), join(data, 'data.txt')],
  }
}
