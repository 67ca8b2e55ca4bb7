import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { atEnd } from './at-end.ts'

/** What a model says in one answer. */
export interface Answer {
  /** Each piece is an event of its own on the wire. */
  readonly text?: string | readonly string[]
  readonly calls?: readonly { readonly id?: string; readonly tool: string; readonly input?: unknown }[]
  /** After what is said, the stream stays open until the client goes away. */
  readonly hangs?: boolean
  /** In place of an answer. */
  readonly status?: number
}

/** A request as the server got it. */
export interface AskedModel {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: { readonly [field: string]: unknown }
}

/** A server on loopback that speaks the streaming HTTP of a provider, and answers what its test says, one answer a request. */
export async function startModelServer(
  answers: readonly Answer[],
  speak: 'anthropic' | 'openai' = 'anthropic',
) {
  const asked: AskedModel[] = []
  const server = createServer((request, response) => {
    let text = ''
    request.setEncoding('utf8').on('data', (piece: string) => (text += piece))
    request.on('end', () => {
      const { url: path = '', headers } = request
      const answer = answers[asked.length] ?? { status: 400 }
      asked.push({ path, headers, body: JSON.parse(text || '{}') as AskedModel['body'] })
      respond(answer, response, speak === 'anthropic' ? anthropicEvents : openaiEvents)
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  atEnd(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}/v1`, asked }
}

type Event = { readonly type: string; readonly [field: string]: unknown }

function respond(answer: Answer, response: ServerResponse, toEvents: (answer: Answer) => Event[]): void {
  if (answer.status !== undefined) {
    response.writeHead(answer.status, { 'content-type': 'application/json' })
    const error = { type: 'invalid_request_error', message: 'The server was asked too often.' }
    response.end(JSON.stringify({ type: 'error', error }))
    return
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const events = toEvents(answer)
  const sent = answer.hangs === true ? events.slice(0, -2) : events
  for (const event of sent) response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
  if (answer.hangs !== true) response.end()
}

const piecesOf = ({ text = [] }: Answer): readonly string[] => (typeof text === 'string' ? [text] : text)
const wireName = (tool: string): string => tool.replace('.', '__')

/** As the Messages API of Anthropic streams an answer. */
function anthropicEvents(answer: Answer): Event[] {
  const { calls = [] } = answer
  const pieces = piecesOf(answer)
  const text = [
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    ...pieces.map((piece) => ({
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'text_delta', text: piece },
    })),
    { type: 'content_block_stop', index: 0 },
  ]
  return [
    {
      type: 'message_start',
      message: {
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        model: 'test-model',
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: { input_tokens: 100, output_tokens: 1, cache_read_input_tokens: 20 },
      },
    },
    ...(pieces.length === 0 ? [] : text),
    ...calls.flatMap(({ id, tool, input = {} }, at) => {
      const index = at + (pieces.length === 0 ? 0 : 1)
      const name = wireName(tool)
      return [
        {
          type: 'content_block_start',
          index,
          content_block: { type: 'tool_use', id: id ?? `toolu_${at}`, name, input: {} },
        },
        {
          type: 'content_block_delta',
          index,
          delta: { type: 'input_json_delta', partial_json: JSON.stringify(input) },
        },
        { type: 'content_block_stop', index },
      ]
    }),
    {
      type: 'message_delta',
      delta: { stop_reason: calls.length > 0 ? 'tool_use' : 'end_turn', stop_sequence: null },
      usage: { output_tokens: 10 },
    },
    { type: 'message_stop' },
  ]
}

/** As the Responses API of OpenAI streams an answer. */
function openaiEvents(answer: Answer): Event[] {
  const { calls = [] } = answer
  const pieces = piecesOf(answer)
  const message = { type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content: [] }
  const items = calls.map(({ id, tool, input = {} }, at) => ({
    type: 'function_call',
    id: `fc_${at}`,
    call_id: id ?? `call_${at}`,
    name: wireName(tool),
    arguments: JSON.stringify(input),
    status: 'completed',
  }))
  const response = { id: 'resp_1', object: 'response', created_at: 1, model: 'test-model', output: [] }
  const usage = {
    input_tokens: 100,
    input_tokens_details: { cached_tokens: 20 },
    output_tokens: 10,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 110,
  }
  return [
    { type: 'response.created', response: { ...response, status: 'in_progress' } },
    ...(pieces.length === 0
      ? []
      : [
          { type: 'response.output_item.added', output_index: 0, item: message },
          ...pieces.map((delta) => ({
            type: 'response.output_text.delta',
            item_id: 'msg_1',
            output_index: 0,
            content_index: 0,
            delta,
          })),
          { type: 'response.output_item.done', output_index: 0, item: message },
        ]),
    ...items.flatMap((item, at) => [
      { type: 'response.output_item.added', output_index: at + 1, item: { ...item, arguments: '' } },
      {
        type: 'response.function_call_arguments.delta',
        item_id: item.id,
        output_index: at + 1,
        delta: item.arguments,
      },
      { type: 'response.output_item.done', output_index: at + 1, item },
    ]),
    { type: 'response.completed', response: { ...response, status: 'completed', usage } },
  ]
}
