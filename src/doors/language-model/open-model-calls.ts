import type { Presentation } from '../../contract/base/call.ts'
import type { AgentModel } from '../../contract/agent-run.ts'
import type { Session } from '../../contract/runtime.ts'
import { isWholeJson } from '../../kit/json/is-whole-json.ts'
import { toAskedCall, type AskedCall } from '../base/asked-call.ts'
import { createCallDoor, type CallAnswer, type CallDoor } from '../base/create-door.ts'
import { toPlainSchema, type FittedTool } from '../base/fit-tools.ts'
import { textOf } from '../base/message-fields.ts'
import type { Part } from '../base/result-parts.ts'
import { describeModel } from './describe-model.ts'
import type { ModelAnswer, ModelMessage, ModelPart, ModelTool } from './messages.ts'

/** The way of calls to a language model of the AI SDK and back. */
export type ModelCalls = CallDoor<ModelTool, ModelAnswer, ModelMessage>

/**
 * A session as tools of a language model of the AI SDK. Calls have ids of their own, `<answer>.<place>`, as those of providers may come again; the
 * provider gets its own back. Throws a SetupError for tools that the provider does not take.
 */
export function openModelCalls(
  session: Session,
  { model, presentation = 'canonical' }: { model: AgentModel; presentation?: Presentation | undefined },
): ModelCalls {
  const { specificationVersion: version } = model
  return createCallDoor<ModelTool, ModelAnswer, ModelMessage>(
    session,
    { presentation },
    {
      ...describeModel(model),
      options: [],
      define: defineTools,
      read: readCalls,
      reply: (answers) => [{ role: 'tool', content: answers.map((answer) => toResultPart(answer, version)) }],
    },
  )
}

const defined = new WeakMap<readonly FittedTool[], ModelTool[]>()

/** The same list for the same tools: a run asks for it at each turn. */
function defineTools(tools: readonly FittedTool[]): ModelTool[] {
  const known = defined.get(tools)
  if (known !== undefined) return known
  const made = tools.map(({ name, description, schema }): ModelTool => ({
    type: 'function',
    name,
    description,
    inputSchema: toPlainSchema(schema),
  }))
  defined.set(tools, made)
  return made
}

/** The calls of an answer that are not the provider's own, in order. */
export function readCalls({ id, content, finishReason }: ModelAnswer): readonly AskedCall[] {
  const isCut = cutReasons.has(finishReason)
  const calls = content.filter(isOwnCall)
  return calls.map((part, index) => {
    const input = textOf(part['input'])
    const isLast = index === calls.length - 1
    return toAskedCall({
      id: `${id}.${index + 1}`,
      name: part['toolName'],
      input: input.trim() === '' && !(isCut && isLast) ? {} : input,
      cut: isCut && isLast && !isWholeJson(input),
      echo: { id: part['toolCallId'] },
    })
  })
}

/** After these, the last call may have come in part. */
const cutReasons: ReadonlySet<string> = new Set(['length', 'interrupted', 'content-filter', 'error'])

/** Whether a part is a call that the provider does not run itself. */
export function isOwnCall({ type, providerExecuted }: ModelPart): boolean {
  return type === 'tool-call' && providerExecuted !== true
}

function toResultPart({ call, parts, isError }: CallAnswer, version: string): ModelPart {
  const text = parts.map((part) => part.text).join('\n')
  const hasMedia = parts.some(({ type }) => type === 'media')
  return {
    type: 'tool-result',
    toolCallId: textOf(call.echo?.['id']),
    toolName: call.name,
    output:
      hasMedia && !isError
        ? { type: 'content', value: parts.map((part) => toContentPart(part, version)) }
        : { type: isError ? 'error-text' : 'text', value: text },
  }
}

/** Media, as the version of the interface has them. */
function toContentPart(part: Part, version: string): ModelPart {
  if (part.type === 'text') return { type: 'text', text: part.text }
  const { data, mimeType: mediaType } = part
  if (version === 'v2') return { type: 'media', data, mediaType }
  if (version === 'v3')
    return { type: mediaType.startsWith('image/') ? 'image-data' : 'file-data', data, mediaType }
  return { type: 'file', data: { type: 'data', data }, mediaType }
}
