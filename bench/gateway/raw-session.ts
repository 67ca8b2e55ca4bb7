import { Agent, request } from 'node:http'

/** A client of 2025-11-25 that reads no more of an answer than it must, so that the server is timed and not the client. */
export interface RawSession {
  /** Asks for the tools: how many there are, and the milliseconds until the last byte was there. */
  list(): Promise<{ names: number; ms: number }>
  /** Calls a tool; resolves with the text of the answer. */
  call(name: string, input: object): Promise<string>
  close(): Promise<void>
}

/** Shakes hands with a server on Streamable HTTP. */
export async function openRawSession(url: string): Promise<RawSession> {
  const agent = new Agent({ keepAlive: true })
  const headers: { [name: string]: string } = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  }
  const send = (method: string, message?: object) =>
    new Promise<{ text: string; session: string }>((resolve, reject) => {
      const sent = request(url, { method, agent, headers }, (response) => {
        const pieces: Buffer[] = []
        response.on('data', (piece: Buffer) => pieces.push(piece))
        response.on('error', reject)
        response.on('end', () => {
          const text = Buffer.concat(pieces).toString()
          const session = String(response.headers['mcp-session-id'] ?? '')
          if ((response.statusCode ?? 500) < 300) resolve({ text, session })
          else reject(new Error(`${method} gives ${response.statusCode}: ${text.slice(0, 300)}`))
        })
      })
      sent.on('error', reject)
      sent.end(message === undefined ? undefined : JSON.stringify({ jsonrpc: '2.0', ...message }))
    })
  const clientInfo = { name: 'bench', version: '1.0.0' }
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo }
  const { session } = await send('POST', { id: 1, method: 'initialize', params })
  headers['mcp-session-id'] = session
  headers['mcp-protocol-version'] = '2025-11-25'
  await send('POST', { method: 'notifications/initialized' })
  return {
    async list() {
      const before = performance.now()
      const { text } = await send('POST', { id: 2, method: 'tools/list', params: {} })
      const ms = performance.now() - before
      return { names: text.split('"inputSchema"').length - 1, ms }
    },
    async call(name, input) {
      return (await send('POST', { id: 3, method: 'tools/call', params: { name, arguments: input } })).text
    },
    async close() {
      await send('DELETE')
      agent.destroy()
    },
  }
}
