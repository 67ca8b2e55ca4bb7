import { fieldsOf, listOf, textOf } from '../base/message-fields.ts'
import { refuseStream } from '../base/read-events.ts'
import type { OpenAIResponse } from './messages.ts'

type Item = { [field: string]: unknown }

/**
 * The response that the events of a stream make. Source: https://platform.openai.com/docs/api-reference/responses-streaming
 */
export async function collectResponse(events: AsyncIterable<unknown>): Promise<OpenAIResponse> {
  const items: Item[] = []
  let response: Item = {}
  let isOver = false
  for await (const event of events) {
    const { type, response: given, output_index: index, item, delta, error, message } = fieldsOf(event)
    if (type === 'error') refuseStream('OpenAI', error ?? message)
    if (given !== undefined) response = { ...fieldsOf(given) }
    if (type === 'response.failed') refuseStream('OpenAI', response['error'])
    if (type === 'response.completed' || type === 'response.incomplete') isOver = true
    if (typeof index !== 'number') continue
    if (type === 'response.output_item.added' || type === 'response.output_item.done')
      items[index] = { ...fieldsOf(item) }
    const known = items[index]
    if (type === 'response.function_call_arguments.delta' && known !== undefined)
      known['arguments'] = textOf(known['arguments']) + textOf(delta)
  }
  const output = listOf(response['output'])
  // Some servers leave the items out of the last event.
  const found = output.length > 0 ? [...output] : items.filter(Boolean)
  return { ...response, output: found, status: isOver ? textOf(response['status']) || 'completed' : null }
}
