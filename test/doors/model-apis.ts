import type { Session } from 'handrail'
import { anthropic } from 'handrail/anthropic'
import { bedrock } from 'handrail/bedrock'
import { google } from 'handrail/google'
import type { ModelDoor } from 'handrail/model-doors'
import { openaiChat, openaiResponses } from 'handrail/openai'

/** A call as any API has it. */
export interface ApiCall {
  id: string
  name: string
  input: unknown
}

/** One API of models: how its answers look, and what comes back. */
export interface ModelApi {
  api: string
  open(
    session: Session,
    options?: { presentation?: 'compatible' },
  ): Omit<ModelDoor<unknown, never, unknown>, 'collect'>
  /** The names of tools as they go out. */
  names(tools: unknown[]): string[]
  /** An answer with these calls; `cut`: it ended at the token limit. */
  answer(calls: readonly ApiCall[], cut?: boolean): never
  /** The results in messages: id, text, whether it is an error. */
  results(messages: unknown[]): { id: unknown; text: string; isError: boolean }[]
}

const as = (value: unknown): never => value as never
const text = (content: { text?: string }[]): string => content.map((part) => part.text ?? '').join('\n')
/** Errors of OpenAI are told by their text only. */
const isCode = (said: string): boolean => /(^|\n)[A-Z]+\.[A-Z_]+ \(/.test(said)

export const modelApis: readonly ModelApi[] = [
  {
    api: 'Anthropic Messages',
    open: (session, options) => anthropic(session, options),
    names: (tools) => (tools as { name: string }[]).map(({ name }) => name),
    answer: (calls, cut) =>
      as({
        role: 'assistant',
        content: [
          { type: 'text', text: 'Let me see.' },
          ...calls.map((call) => ({ type: 'tool_use', ...call })),
        ],
        stop_reason: cut === true ? 'max_tokens' : 'tool_use',
      }),
    results: (messages) =>
      (
        messages as { content: { tool_use_id: unknown; content: { text?: string }[]; is_error?: true }[] }[]
      ).flatMap(({ content }) =>
        content.map((each) => ({
          id: each.tool_use_id,
          text: text(each.content),
          isError: each.is_error === true,
        })),
      ),
  },
  {
    api: 'OpenAI Responses',
    open: (session, options) => openaiResponses(session, options),
    names: (tools) => (tools as { name: string }[]).map(({ name }) => name),
    answer: (calls, cut) =>
      as({
        output: [
          { type: 'reasoning', id: 'rs_1' },
          ...calls.map(({ id, name, input }) => ({
            type: 'function_call',
            call_id: id,
            name,
            arguments: toText(input),
          })),
        ],
        status: cut === true ? 'incomplete' : 'completed',
      }),
    results: (messages) =>
      (messages as { call_id: unknown; output: string | { text?: string }[] }[]).map(
        ({ call_id: id, output }) => {
          const said = typeof output === 'string' ? output : text(output)
          return { id, text: said, isError: isCode(said) }
        },
      ),
  },
  {
    api: 'OpenAI Chat Completions',
    open: (session, options) => openaiChat(session, options),
    names: (tools) => (tools as { function: { name: string } }[]).map((tool) => tool.function.name),
    answer: (calls, cut) =>
      as({
        choices: [
          {
            message: {
              role: 'assistant',
              content: null,
              tool_calls: calls.map(({ id, name, input }) => ({
                id,
                type: 'function',
                function: { name, arguments: toText(input) },
              })),
            },
            finish_reason: cut === true ? 'length' : 'tool_calls',
          },
        ],
      }),
    results: (messages) =>
      (messages as { role: string; tool_call_id: unknown; content: string }[])
        .filter(({ role }) => role === 'tool')
        .map(({ tool_call_id: id, content }) => ({ id, text: content, isError: isCode(content) })),
  },
  {
    api: 'Gemini generateContent',
    open: (session, options) => google(session, options),
    names: (tools) =>
      (tools as { functionDeclarations: { name: string }[] }[]).flatMap((tool) =>
        tool.functionDeclarations.map(({ name }) => name),
      ),
    answer: (calls, cut) =>
      as({
        candidates: [
          {
            content: {
              role: 'model',
              parts: calls.map(({ id, name, input }) => ({ functionCall: { id, name, args: input } })),
            },
            finishReason: cut === true ? 'MAX_TOKENS' : 'STOP',
          },
        ],
      }),
    results: (messages) =>
      (
        messages as {
          parts: { functionResponse?: { id: unknown; response: { output?: string; error?: string } } }[]
        }[]
      ).flatMap(({ parts }) =>
        parts.flatMap(({ functionResponse: found }) =>
          found === undefined
            ? []
            : [
                {
                  id: found.id,
                  text: found.response.output ?? found.response.error ?? '',
                  isError: found.response.error !== undefined,
                },
              ],
        ),
      ),
  },
  {
    api: 'Bedrock Converse',
    open: (session, options) => bedrock(session, options),
    names: (tools) => (tools as { toolSpec: { name: string } }[]).map((tool) => tool.toolSpec.name),
    answer: (calls, cut) =>
      as({
        output: {
          message: {
            role: 'assistant',
            content: calls.map(({ id, name, input }) => ({ toolUse: { toolUseId: id, name, input } })),
          },
        },
        stopReason: cut === true ? 'max_tokens' : 'tool_use',
      }),
    results: (messages) =>
      (
        messages as {
          content: { toolResult?: { toolUseId: unknown; content: { text?: string }[]; status: string } }[]
        }[]
      ).flatMap(({ content }) =>
        content.flatMap(({ toolResult: found }) =>
          found === undefined
            ? []
            : [{ id: found.toolUseId, text: text(found.content), isError: found.status === 'error' }],
        ),
      ),
  },
]

function toText(input: unknown): string {
  return typeof input === 'string' ? input : JSON.stringify(input)
}
