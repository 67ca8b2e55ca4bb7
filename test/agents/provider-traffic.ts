import { createAnthropic } from '@ai-sdk/anthropic'
import { createGoogleGenerativeAI } from '@ai-sdk/google'
import { createOpenAI } from '@ai-sdk/openai'
import type { AgentModel } from 'handrail/agents'
import type { Got } from '../support/provider-server.ts'

/** A call of a model. */
export interface Asks {
  readonly id: string
  readonly name: string
  readonly input: object
}

/** One provider package, and its provider's side of the wire. */
export interface Provider {
  readonly name: string
  readonly open: (baseURL: string) => AgentModel
  /** An answer that thinks, says a text and makes calls, in the provider's own events. */
  readonly calling: (text: string, calls: readonly Asks[]) => readonly object[]
  readonly saying: (text: string) => readonly object[]
  /** What of a request each provider has in its own place. */
  readonly tools: (got: Got) => { name: string; schema: unknown }[]
  readonly messages: (got: Got) => unknown[]
  /** The results in a request: ids where the provider has them, and all of them as text. */
  readonly results: (got: Got) => { id: unknown; said: string }[]
  /** What the provider wants back with an answer. */
  readonly signature: string
}

interface Part {
  readonly [field: string]: unknown
}

const apiKey = 'key'
const signature = 'c2lnbmVk'
const listOf = (value: unknown): Part[] => (Array.isArray(value) ? (value as Part[]) : [])
const contentOf = (message: Part): Part[] => listOf(message['content'])

const responses: Provider = {
  name: 'OpenAI Responses',
  open: (baseURL) => createOpenAI({ baseURL, apiKey }).responses('gpt-5'),
  calling(text, calls) {
    const reasoning = { id: 'rs_1', type: 'reasoning', summary: [], encrypted_content: signature }
    return [
      created,
      { type: 'response.output_item.added', output_index: 0, item: reasoning },
      { type: 'response.output_item.done', output_index: 0, item: reasoning },
      ...message(text, 1),
      ...calls.flatMap(({ id, name, input }, index) => {
        const item = { id: `fc_${index}`, type: 'function_call', call_id: id, name, status: 'completed' }
        const place = { output_index: index + 2 }
        const json = JSON.stringify(input)
        return [
          {
            type: 'response.output_item.added',
            ...place,
            item: { ...item, arguments: '', status: 'in_progress' },
          },
          { type: 'response.function_call_arguments.delta', ...place, item_id: item.id, delta: json },
          { type: 'response.output_item.done', ...place, item: { ...item, arguments: json } },
        ]
      }),
      completed,
    ]
  },
  saying: (text) => [created, ...message(text, 0), completed],
  tools: ({ body }) =>
    listOf(body['tools']).map(({ name, parameters }) => ({ name: String(name), schema: parameters })),
  messages: ({ body }) => listOf(body['input']),
  results: ({ body }) =>
    listOf(body['input'])
      .filter(({ type }) => type === 'function_call_output')
      .map(({ call_id: id, output }) => ({ id, said: JSON.stringify(output) })),
  // It keeps what it thought, and is told where.
  signature: 'rs_1',
}

const created = {
  type: 'response.created',
  response: { id: 'resp_1', created_at: 1_700_000_000, model: 'gpt-5' },
}
const completed = {
  type: 'response.completed',
  response: {
    id: 'resp_1',
    usage: {
      input_tokens: 100,
      input_tokens_details: { cached_tokens: 30 },
      output_tokens: 20,
      output_tokens_details: { reasoning_tokens: 5 },
    },
  },
}

function message(text: string, index: number): object[] {
  const item = { id: `msg_${index}`, type: 'message', role: 'assistant' }
  const place = { output_index: index }
  return [
    { type: 'response.output_item.added', ...place, item: { ...item, content: [], status: 'in_progress' } },
    { type: 'response.output_text.delta', ...place, item_id: item.id, content_index: 0, delta: text },
    {
      type: 'response.output_item.done',
      ...place,
      item: { ...item, status: 'completed', content: [{ type: 'output_text', text, annotations: [] }] },
    },
  ]
}

const chat: Provider = {
  name: 'OpenAI Chat Completions',
  open: (baseURL) => createOpenAI({ baseURL, apiKey }).chat('gpt-4.1'),
  calling: (text, calls) => [
    chunk({ role: 'assistant', content: text }),
    ...calls.map(({ id, name, input }, index) =>
      chunk({
        tool_calls: [{ index, id, type: 'function', function: { name, arguments: JSON.stringify(input) } }],
      }),
    ),
    chunk({}, 'tool_calls'),
    chatUsage,
  ],
  saying: (text) => [chunk({ role: 'assistant', content: text }), chunk({}, 'stop'), chatUsage],
  tools: ({ body }) =>
    listOf(body['tools'])
      .map((each) => each['function'] as Part)
      .map(({ name, parameters }) => ({ name: String(name), schema: parameters })),
  messages: ({ body }) => listOf(body['messages']),
  results: ({ body }) =>
    listOf(body['messages'])
      .filter(({ role }) => role === 'tool')
      .map(({ tool_call_id: id, content }) => ({ id, said: JSON.stringify(content) })),
  // This API has none.
  signature: '',
}

const chatAbout = { id: 'chat_1', object: 'chat.completion.chunk', created: 1_700_000_000, model: 'gpt-4.1' }
const chatUsage = {
  ...chatAbout,
  choices: [],
  usage: { prompt_tokens: 100, completion_tokens: 20, prompt_tokens_details: { cached_tokens: 30 } },
}

function chunk(delta: object, reason: string | null = null): object {
  return { ...chatAbout, choices: [{ index: 0, delta, finish_reason: reason }] }
}

const claude: Provider = {
  name: 'Anthropic Messages',
  open: (baseURL) => createAnthropic({ baseURL, apiKey })('claude-sonnet-4-5'),
  calling: (text, calls) => [
    started,
    ...block(0, { type: 'thinking', thinking: '' }, [
      { type: 'thinking_delta', thinking: 'Hm.' },
      { type: 'signature_delta', signature },
    ]),
    ...block(1, { type: 'text', text: '' }, [{ type: 'text_delta', text }]),
    ...calls.flatMap(({ id, name, input }, index) =>
      block(index + 2, { type: 'tool_use', id, name, input: {} }, [
        { type: 'input_json_delta', partial_json: JSON.stringify(input) },
      ]),
    ),
    ...stopped('tool_use'),
  ],
  saying: (text) => [
    started,
    ...block(0, { type: 'text', text: '' }, [{ type: 'text_delta', text }]),
    ...stopped('end_turn'),
  ],
  tools: ({ body }) =>
    listOf(body['tools']).map(({ name, input_schema: schema }) => ({ name: String(name), schema })),
  messages: ({ body }) => listOf(body['messages']),
  results: ({ body }) =>
    listOf(body['messages'])
      .flatMap(contentOf)
      .filter(({ type }) => type === 'tool_result')
      .map(({ tool_use_id: id, content }) => ({ id, said: JSON.stringify(content) })),
  signature,
}

const started = {
  type: 'message_start',
  message: {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude-sonnet-4-5',
    content: [],
    usage: {
      input_tokens: 70,
      cache_read_input_tokens: 30,
      cache_creation_input_tokens: 0,
      output_tokens: 1,
    },
  },
}

function stopped(reason: string): object[] {
  return [
    { type: 'message_delta', delta: { stop_reason: reason }, usage: { output_tokens: 20 } },
    { type: 'message_stop' },
  ]
}

function block(index: number, content: object, deltas: readonly object[]): object[] {
  return [
    { type: 'content_block_start', index, content_block: content },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ]
}

const gemini: Provider = {
  name: 'Google Gemini',
  open: (baseURL) => createGoogleGenerativeAI({ baseURL, apiKey })('gemini-3-pro-preview'),
  calling: (text, calls) => [
    candidate([{ text: 'Hm.', thought: true }]),
    candidate([{ text }]),
    candidate(
      calls.map(({ id, name, input }, index) => ({
        functionCall: { id, name, args: input },
        ...(index === 0 && { thoughtSignature: signature }),
      })),
    ),
    candidate([], 'STOP'),
  ],
  saying: (text) => [candidate([{ text }], 'STOP')],
  tools: ({ body }) =>
    listOf(body['tools'])
      .flatMap(({ functionDeclarations: all }) => listOf(all))
      .map(({ name, parameters, parametersJsonSchema }) => ({
        name: String(name),
        schema: parameters ?? parametersJsonSchema,
      })),
  messages: ({ body }) => listOf(body['contents']),
  results: ({ body }) =>
    listOf(body['contents'])
      .flatMap(({ parts }) => listOf(parts))
      .filter((part) => part['functionResponse'] !== undefined)
      .map((part) => ({
        id: (part['functionResponse'] as Part)['id'],
        said: JSON.stringify(part),
      })),
  signature,
}

function candidate(parts: readonly object[], finishReason?: string): object {
  return {
    candidates: [
      { index: 0, content: { role: 'model', parts }, ...(finishReason !== undefined && { finishReason }) },
    ],
    usageMetadata: {
      promptTokenCount: 100,
      cachedContentTokenCount: 30,
      candidatesTokenCount: 20,
      totalTokenCount: 120,
    },
  }
}

export const providers: readonly Provider[] = [responses, chat, claude, gemini]
