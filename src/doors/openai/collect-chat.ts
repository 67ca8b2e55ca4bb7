import { fieldsOf, listOf, textOf } from '../base/message-fields.ts'
import { refuseStream } from '../base/read-events.ts'
import type { OpenAIChatAnswer } from './messages.ts'

type Fields = { [field: string]: unknown }

/** A call under way, and its place in the stream; undefined if the server sends none. */
interface Call {
  readonly index: unknown
  id: unknown
  type: unknown
  name: string
  text: string
  /** Arguments of a server that sends them as they are. */
  value: unknown
  extra: Fields
}

/** The answer that the chunks of a stream make. Source: https://platform.openai.com/docs/api-reference/chat-streaming */
export async function collectChat(events: AsyncIterable<unknown>): Promise<OpenAIChatAnswer> {
  const calls: Call[] = []
  let whole: Fields = {}
  let message: Fields = { role: 'assistant', content: null }
  let reason: unknown = null
  for await (const event of events) {
    const { choices, error, ...rest } = fieldsOf(event)
    if (error !== undefined && error !== null) refuseStream('OpenAI', error)
    whole = { ...whole, ...rest }
    const choice = fieldsOf(listOf(choices).find((each) => (fieldsOf(each)['index'] ?? 0) === 0))
    const { delta, finish_reason } = choice
    if (finish_reason !== undefined && finish_reason !== null) reason = finish_reason
    const { tool_calls: given, ...others } = fieldsOf(delta)
    for (const call of listOf(given)) takeCall(calls, fieldsOf(call))
    message = join(message, others)
  }
  const made = calls.map(toCall)
  const answer = { ...message, ...(made.length > 0 && { tool_calls: made }) }
  return { ...whole, choices: [{ index: 0, message: answer, finish_reason: reason }] }
}

/** Texts of a chunk continue those before; of other fields the last one holds. */
function join(message: Fields, delta: Fields): Fields {
  const joined = { ...message }
  for (const [field, value] of Object.entries(delta)) {
    if (value === null) continue
    const before = joined[field]
    if (field === 'function_call')
      joined[field] = {
        name: textOf(fieldsOf(before)['name']) + textOf(fieldsOf(value)['name']),
        arguments: textOf(fieldsOf(before)['arguments']) + textOf(fieldsOf(value)['arguments']),
      }
    else if (typeof value === 'string' && field !== 'role') joined[field] = textOf(before) + value
    else if (Array.isArray(value) && Array.isArray(before)) joined[field] = [...before, ...value]
    else joined[field] = value
  }
  return joined
}

/** A call goes on in the chunk with its index. Some servers give none, or one index to several calls: there another id begins a call. */
function takeCall(calls: Call[], { index, id, type, function: called, ...extra }: Fields): void {
  const { name, arguments: text } = fieldsOf(called)
  const before = index === undefined ? calls.at(-1) : calls.findLast((each) => each.index === index)
  const isOther = textOf(id) !== '' && before?.id !== id && textOf(before?.id) !== ''
  const isWhole = index === undefined && textOf(name) !== '' && textOf(id) === ''
  let call = before
  if (call === undefined || isOther || isWhole) {
    call = { index, id, type, name: '', text: '', value: undefined, extra: {} }
    calls.push(call)
  }
  if (textOf(call.id) === '' && id !== undefined) call.id = id
  if (call.name === '') call.name = textOf(name)
  if (typeof text === 'object' && text !== null) call.value = text
  call.text += textOf(text)
  call.extra = { ...call.extra, ...extra }
}

function toCall({ id, type = 'function', name, text, value, extra }: Call): Fields {
  return {
    ...extra,
    id,
    type,
    function: { name, arguments: value === undefined ? text : JSON.stringify(value) },
  }
}
