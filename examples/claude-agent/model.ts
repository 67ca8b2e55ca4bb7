import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

interface Block {
  readonly type: string
  readonly is_error?: boolean
  readonly content?: unknown
}

interface Asked {
  readonly stream?: boolean
  readonly tools?: readonly unknown[]
  readonly messages: readonly { readonly role: string; readonly content: string | readonly Block[] }[]
}

/**
 * In the place of the API of a model, so that the example runs without a key: it looks, refunds until that is not an error, and says what it was told.
 * `env` is what the SDK finds it by, in a folder of its own.
 */
export async function startModel() {
  const server = createServer((request, response) => {
    const pieces: Buffer[] = []
    request.on('data', (piece: Buffer) => pieces.push(piece))
    request.on('end', () => answer(Buffer.concat(pieces).toString(), response))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const env = {
    PATH: process.env['PATH'],
    CLAUDE_CONFIG_DIR: mkdtempSync(join(tmpdir(), 'claude-')),
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    ANTHROPIC_BASE_URL: `http://127.0.0.1:${port}`,
    ANTHROPIC_API_KEY: 'none',
  }
  return { env, close: () => server.close() }
}

function answer(body: string, response: ServerResponse): void {
  const asked = body === '' ? undefined : (JSON.parse(body) as Asked)
  if (asked?.messages === undefined) {
    response.writeHead(404).end('{}')
    return
  }
  const block = asked.tools?.length ? next(asked) : { type: 'text', text: 'A shop' }
  const stop_reason = block.type === 'tool_use' ? 'tool_use' : 'end_turn'
  const usage = { input_tokens: 1, output_tokens: 1 }
  const message = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'none',
    content: [block],
    stop_reason,
    usage,
  }
  response.writeHead(200, { 'content-type': asked.stream ? 'text/event-stream' : 'application/json' })
  response.end(asked.stream ? toEvents(message, block) : JSON.stringify(message))
}

function next({ messages }: Asked) {
  const blocks = messages.flatMap(({ content }) => (typeof content === 'string' ? [] : content))
  const results = blocks.filter(({ type }) => type === 'tool_result')
  const done = results.filter(({ is_error }) => is_error !== true)
  const name = ['mcp__handrail__shop__look', 'mcp__handrail__shop__refund'][done.length]
  if (name === undefined) return { type: 'text', text: `I was told ${JSON.stringify(done.at(-1)?.content)}` }
  return { type: 'tool_use', id: `toolu_${results.length + 1}`, name, input: { order: '12' } }
}

function toEvents(message: object, block: { type: string; text?: string; input?: object }): string {
  const { text, input } = block
  const delta =
    text === undefined
      ? { type: 'input_json_delta', partial_json: JSON.stringify(input) }
      : { type: 'text_delta', text }
  const start = text === undefined ? { ...block, input: {} } : { type: 'text', text: '' }
  const { stop_reason } = message as { stop_reason: string }
  const events = [
    { type: 'message_start', message: { ...message, content: [], stop_reason: null } },
    { type: 'content_block_start', index: 0, content_block: start },
    { type: 'content_block_delta', index: 0, delta },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason }, usage: { output_tokens: 1 } },
    { type: 'message_stop' },
  ]
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('')
}
