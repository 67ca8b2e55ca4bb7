import type { Session } from '../../contract/runtime.ts'
import { providerNames } from '../../kit/names/name-codec.ts'
import { readStreamedInput, toAskedCall, type AskedCall } from '../base/asked-call.ts'
import { createDoor, type CallAnswer } from '../base/create-door.ts'
import { toPlainSchema, type FittedTool } from '../base/fit-tools.ts'
import { imageTypes, subtypeOf, toBytes } from '../base/media-types.ts'
import { fieldsOf, refuseMessage } from '../base/message-fields.ts'
import type { DoorOptions, ModelDoor } from '../base/model-door.ts'
import type { RuleQuery } from '../rules/find-rules.ts'
import type { Part } from '../base/result-parts.ts'
import { checkBedrockRequest } from './check-request.ts'
import { collectBedrock } from './collect.ts'
import type { BedrockAnswer, BedrockContent, BedrockDocument, BedrockReply, BedrockTool } from './messages.ts'

/** Options of the door to the Converse API. `model` says whether results may hold images: those of Claude may. */
export interface BedrockOptions extends DoorOptions {}

/** A door to the Converse API of Amazon Bedrock. */
export type BedrockDoor = ModelDoor<BedrockTool, BedrockAnswer, BedrockReply>

/**
 * A session as tools of the Converse API (https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html). Throws a
 * SetupError for faulty options, and for tools that the API does not take.
 */
export function bedrock(session: Session, options: BedrockOptions = {}): BedrockDoor {
  const query: RuleQuery = { api: 'bedrock-converse', model: options.model }
  const inside = /claude/i.test(options.model ?? '')
  return createDoor<BedrockTool, BedrockAnswer, BedrockReply>(session, options, {
    provider: 'Bedrock',
    query,
    names: providerNames.bedrock,
    options: [],
    define: (tools) => tools.map(toTool),
    read,
    reply: (answers) => [{ role: 'user', content: inside ? toInner(answers) : toOuter(answers) }],
    collect: collectBedrock,
    check: (request) => checkBedrockRequest(request, query),
  })
}

function toTool({ name, description, schema }: FittedTool): BedrockTool {
  const json = { ...toPlainSchema(schema), type: 'object' } as { [key: string]: BedrockDocument }
  return { toolSpec: { name, description, inputSchema: { json } } }
}

function read(message: unknown): readonly AskedCall[] {
  const answer = fieldsOf(message)
  const { content } = 'content' in answer ? answer : fieldsOf(fieldsOf(answer['output'])['message'])
  if (!Array.isArray(content))
    return refuseMessage(message, 'an answer of the Converse API ({ output, … }), or the message in it')
  const { stopReason } = answer
  const isCut =
    stopReason === 'max_tokens' || stopReason === 'model_context_window_exceeded' || stopReason === null
  const last: unknown = content.at(-1)
  return content.flatMap((block: unknown) => {
    const { toolUse } = fieldsOf(block)
    // Its own tools run at the provider.
    if (toolUse === undefined || fieldsOf(toolUse)['type'] === 'server_tool_use') return []
    const { toolUseId, name, input } = fieldsOf(toolUse)
    return [
      toAskedCall({ id: toolUseId, name, input: readStreamedInput(input), cut: isCut && block === last }),
    ]
  })
}

/** Media inside of the results. */
function toInner(answers: readonly CallAnswer[]): BedrockReply['content'] {
  return answers.map((answer) =>
    toResult(
      answer,
      answer.parts.map((part, index) => toContent(part, index) ?? { text: part.text }),
    ),
  )
}

/** Media behind the results, as few models take them inside. */
function toOuter(answers: readonly CallAnswer[]): BedrockReply['content'] {
  const results = answers.map((answer) =>
    toResult(
      answer,
      answer.parts.map(({ text }) => ({ text })),
    ),
  )
  const media = answers.flatMap(({ parts }) => parts.filter(({ type }) => type === 'media'))
  return [...results, ...media.flatMap((part, index) => toContent(part, index) ?? [])]
}

function toResult(
  { call, isError }: CallAnswer,
  content: BedrockContent[],
): { toolResult: { toolUseId: string; content: BedrockContent[]; status: 'success' | 'error' } } {
  return {
    toolResult: { toolUseId: (call.id ?? '') as string, content, status: isError ? 'error' : 'success' },
  }
}

function toContent(part: Part, index: number): BedrockContent | undefined {
  if (part.type === 'text') return { text: part.text }
  const { mimeType, data } = part
  const image = subtypeOf(mimeType, 'image', imageTypes)
  if (image !== undefined)
    return { image: { format: image as (typeof imageTypes)[number], source: { bytes: toBytes(data) } } }
  if (subtypeOf(mimeType, 'application', ['pdf']) === undefined) return undefined
  return { document: { format: 'pdf', name: `file ${index + 1}`, source: { bytes: toBytes(data) } } }
}
