import { toStreamedInput } from '../base/asked-call.ts'
import { fieldsOf, textOf } from '../base/message-fields.ts'
import { refuseStream } from '../base/read-events.ts'
import type { AnthropicMessage } from './messages.ts'

/** A block under way. */
interface Block {
  readonly fields: { [field: string]: unknown }
  /** The text of its input so far; undefined if none came. */
  input: string | undefined
}

/** The message that the events of a stream make. Source: https://platform.claude.com/docs/en/build-with-claude/streaming */
export async function collectAnthropic(events: AsyncIterable<unknown>): Promise<AnthropicMessage> {
  const blocks: Block[] = []
  let message: { [field: string]: unknown } = { role: 'assistant', stop_reason: null }
  for await (const event of events) {
    const { type, message: started, delta, usage, error } = fieldsOf(event)
    if (type === 'error') refuseStream('Anthropic', error)
    if (type === 'message_start') message = { ...message, ...fieldsOf(started) }
    if (type === 'message_delta')
      message = {
        ...message,
        ...fieldsOf(delta),
        ...(usage !== undefined && { usage: { ...fieldsOf(message['usage']), ...fieldsOf(usage) } }),
      }
    takeBlock(blocks, fieldsOf(event))
  }
  return { ...message, role: 'assistant', content: blocks.filter(Boolean).map(toBlock) }
}

function takeBlock(blocks: Block[], event: { readonly [field: string]: unknown }): void {
  const { type, index } = event
  if (typeof index !== 'number') return
  if (type === 'content_block_start')
    blocks[index] = { fields: { ...fieldsOf(event['content_block']) }, input: undefined }
  const block = blocks[index]
  if (type !== 'content_block_delta' || block === undefined) return
  const { type: kind, ...delta } = fieldsOf(event['delta'])
  if (kind === 'input_json_delta') block.input = (block.input ?? '') + textOf(delta['partial_json'])
  else if (kind === 'citations_delta')
    block.fields['citations'] = [...[block.fields['citations'] ?? []].flat(), delta['citation']]
  else
    for (const [field, value] of Object.entries(delta))
      block.fields[field] = typeof value === 'string' ? textOf(block.fields[field]) + value : value
}

function toBlock({ fields, input }: Block): object {
  return input === undefined || input === '' ? fields : { ...fields, input: toStreamedInput(input) }
}
