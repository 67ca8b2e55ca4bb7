import type { Session } from '../../contract/runtime.ts'
import { isWholeJson } from '../../kit/json/is-whole-json.ts'
import { providerNames } from '../../kit/names/name-codec.ts'
import { toAskedCall, type AskedCall } from '../base/asked-call.ts'
import { createDoor, type CallAnswer } from '../base/create-door.ts'
import { toPlainSchema } from '../base/fit-tools.ts'
import { imageTypes, subtypeOf } from '../base/media-types.ts'
import { fieldsOf, listOf, refuseMessage, textOf } from '../base/message-fields.ts'
import type { ModelDoor } from '../base/model-door.ts'
import type { RuleQuery } from '../rules/find-rules.ts'
import { textOfParts, type Part } from '../base/result-parts.ts'
import { checkChatRequest } from './check-request.ts'
import { collectChat } from './collect-chat.ts'
import type { OpenAIChatAnswer, OpenAIChatContent, OpenAIChatReply, OpenAIChatTool } from './messages.ts'
import { toPdfName, type OpenAIOptions } from './responses.ts'

/** A door to Chat Completions, of OpenAI and of those who speak its API. */
export type OpenAIChatDoor = ModelDoor<OpenAIChatTool, OpenAIChatAnswer, OpenAIChatReply>

/**
 * A session as tools of Chat Completions (https://platform.openai.com/docs/api-reference/chat). Of an answer with several choices, the first
 * counts. Throws a SetupError for faulty options, and for tools that the API does not take.
 */
export function openaiChat(session: Session, options: OpenAIOptions = {}): OpenAIChatDoor {
  const query: RuleQuery = { api: 'openai-chat', model: options.model }
  return createDoor<OpenAIChatTool, OpenAIChatAnswer, OpenAIChatReply>(session, options, {
    provider: 'OpenAI',
    query,
    names: providerNames.openai,
    options: ['strict'],
    define: (tools) =>
      tools.map(({ name, description, schema, strict }) => ({
        type: 'function',
        function: { name, description, parameters: toPlainSchema(schema), ...(strict && { strict }) },
      })),
    read,
    reply: toReplies,
    collect: collectChat,
    check: (request) => checkChatRequest(request, query),
  })
}

function read(answer: unknown): readonly AskedCall[] {
  const whole = fieldsOf(answer)
  const choices = listOf(whole['choices'])
  if (Array.isArray(whole['choices']) && choices.length === 0) return []
  const choice = fieldsOf(choices[0])
  const message = choices.length > 0 ? fieldsOf(choice['message']) : whole
  if (!('role' in message) && !('tool_calls' in message) && !('content' in message))
    return refuseMessage(answer, 'an answer of Chat Completions ({ choices, … }), or the message in it')
  const { finish_reason: reason } = choice
  const isCut = reason === 'length' || reason === null
  const calls = listOf(message['tool_calls'])
  const { function_call: older } = message
  return [
    ...calls.map((call, index) => toCall(call, isCut && index === calls.length - 1)),
    ...(calls.length === 0 && textOf(fieldsOf(older)['name']) !== ''
      ? [{ ...toCall({ function: older }, isCut), echo: { older: true } }]
      : []),
  ]
}

function toCall(call: unknown, isLast: boolean): AskedCall {
  const { id, function: called, custom } = fieldsOf(call)
  const { name, arguments: text, input } = fieldsOf(called ?? custom)
  const given = text ?? input
  const isEmpty = given === undefined || given === null || given === ''
  const isText = isEmpty || typeof given === 'string'
  return toAskedCall({
    id,
    name,
    input: isEmpty && !isLast ? {} : given,
    cut: isLast && (!isText || !isWholeJson(given)),
  })
}

/** The results, and behind them what may not stand in one. Source: the types of `ChatCompletionToolMessageParam`. */
function toReplies(answers: readonly CallAnswer[]): OpenAIChatReply[] {
  const beside = answers.flatMap(({ call, parts }) => {
    const media = parts.flatMap((part) => toMedia(part) ?? [])
    return media.length === 0 ? [] : [{ type: 'text' as const, text: `From ${call.name}:` }, ...media]
  })
  const results = answers.map(({ call, parts }): OpenAIChatReply => {
    const content = textOfParts(parts)
    if (call.echo?.['older'] === true) return { role: 'function', name: call.name, content }
    return { role: 'tool', tool_call_id: (call.id ?? '') as string, content }
  })
  return beside.length === 0 ? results : [...results, { role: 'user', content: beside }]
}

function toMedia(part: Part): OpenAIChatContent | undefined {
  if (part.type === 'text') return undefined
  const { mimeType, data, name } = part
  const image = subtypeOf(mimeType, 'image', imageTypes)
  if (image !== undefined)
    return { type: 'image_url', image_url: { url: `data:image/${image};base64,${data}` } }
  if (subtypeOf(mimeType, 'application', ['pdf']) === undefined) return undefined
  return {
    type: 'file',
    file: { filename: toPdfName(name), file_data: `data:application/pdf;base64,${data}` },
  }
}
