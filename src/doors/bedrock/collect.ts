import { toStreamedInput } from '../base/asked-call.ts'
import { fieldsOf, textOf } from '../base/message-fields.ts'
import { refuseStream } from '../base/read-events.ts'
import type { BedrockAnswer } from './messages.ts'

/** A block under way. */
interface Block {
  text: string
  reasoning: { [field: string]: unknown }
  toolUse: { readonly [field: string]: unknown } | undefined
  input: string
}

/**
 * The answer that the events of a stream make. Source:
 * https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStreamOutput.html
 */
export async function collectBedrock(events: AsyncIterable<unknown>): Promise<BedrockAnswer> {
  const blocks: Block[] = []
  // Null if the stream breaks off.
  let stop: { readonly [field: string]: unknown } = { stopReason: null }
  let metadata: { readonly [field: string]: unknown } = {}
  for await (const event of events) {
    const fields = fieldsOf(event)
    const failed = Object.keys(fields).find((name) => name.endsWith('Exception'))
    if (failed !== undefined) refuseStream('Bedrock', { [failed]: fields[failed] })
    if (fields['messageStop'] !== undefined) stop = fieldsOf(fields['messageStop'])
    if (fields['metadata'] !== undefined) metadata = fieldsOf(fields['metadata'])
    takeStart(blocks, fieldsOf(fields['contentBlockStart']))
    takeDelta(blocks, fieldsOf(fields['contentBlockDelta']))
  }
  const content = blocks.filter(Boolean).map(toBlock)
  return { ...metadata, ...stop, output: { message: { role: 'assistant', content } } }
}

function blockAt(blocks: Block[], index: unknown): Block | undefined {
  if (typeof index !== 'number') return undefined
  return (blocks[index] ??= { text: '', reasoning: {}, toolUse: undefined, input: '' })
}

function takeStart(
  blocks: Block[],
  { contentBlockIndex, start }: { readonly [field: string]: unknown },
): void {
  const block = blockAt(blocks, contentBlockIndex)
  const { toolUse } = fieldsOf(start)
  if (block !== undefined && toolUse !== undefined) block.toolUse = fieldsOf(toolUse)
}

function takeDelta(
  blocks: Block[],
  { contentBlockIndex, delta }: { readonly [field: string]: unknown },
): void {
  const block = blockAt(blocks, contentBlockIndex)
  if (block === undefined) return
  const { text, toolUse, reasoningContent } = fieldsOf(delta)
  block.text += textOf(text)
  block.input += textOf(fieldsOf(toolUse)['input'])
  for (const [field, value] of Object.entries(fieldsOf(reasoningContent)))
    block.reasoning[field] = typeof value === 'string' ? textOf(block.reasoning[field]) + value : value
}

function toBlock({ text, reasoning, toolUse, input }: Block): object {
  if (toolUse !== undefined) return { toolUse: { ...toolUse, input: toStreamedInput(input) } }
  const { redactedContent, ...reasoningText } = reasoning
  if (redactedContent !== undefined) return { reasoningContent: { redactedContent } }
  if (Object.keys(reasoningText).length > 0) return { reasoningContent: { reasoningText } }
  return { text }
}
