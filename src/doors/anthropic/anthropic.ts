import type { Session } from '../../contract/runtime.ts'
import { providerNames } from '../../kit/names/name-codec.ts'
import { readStreamedInput, toAskedCall, type AskedCall } from '../base/asked-call.ts'
import { createDoor, type CallAnswer } from '../base/create-door.ts'
import { toPlainSchema, type FittedTool } from '../base/fit-tools.ts'
import { imageTypes, subtypeOf } from '../base/media-types.ts'
import { fieldsOf, refuseMessage } from '../base/message-fields.ts'
import type { DeferLoadingOptions, DoorOptions, ModelDoor, StrictOptions } from '../base/model-door.ts'
import type { RuleQuery } from '../rules/find-rules.ts'
import type { Part } from '../base/result-parts.ts'
import { checkAnthropicRequest } from './check-request.ts'
import { collectAnthropic } from './collect.ts'
import type {
  AnthropicCacheControl,
  AnthropicMessage,
  AnthropicReply,
  AnthropicResultContent,
  AnthropicTool,
} from './messages.ts'

/** Options of the door to the Messages API. */
export interface AnthropicOptions extends DoorOptions, StrictOptions, DeferLoadingOptions {
  /** Marks the last tool that is shown from the start, so that the definitions are cached: `true` for the usual time. Default: no mark. */
  cacheControl?: true | AnthropicCacheControl
}

/** A door to the Messages API of Anthropic. */
export type AnthropicDoor = ModelDoor<AnthropicTool, AnthropicMessage, AnthropicReply>

/**
 * A session as tools of the Messages API (https://platform.claude.com/docs/en/api/messages). Throws a SetupError for faulty options, and
 * for tools that the API does not take.
 */
export function anthropic(session: Session, options: AnthropicOptions = {}): AnthropicDoor {
  const query: RuleQuery = { api: 'anthropic-messages', model: options.model }
  const { cacheControl, deferLoading = false } = options
  return createDoor<AnthropicTool, AnthropicMessage, AnthropicReply>(session, options, {
    provider: 'Anthropic',
    query,
    names: providerNames.anthropic,
    options: ['strict', 'cacheControl', 'deferLoading'],
    define: (tools) =>
      tools.map((tool) => toTool(tool, { deferLoading, ...markOf(tool, tools, cacheControl) })),
    read,
    reply: (answers) => [{ role: 'user', content: answers.map((answer) => toResult(answer, deferLoading)) }],
    collect: collectAnthropic,
    check: (request) => checkAnthropicRequest(request, query),
  })
}

function toTool(
  { name, description, schema, strict, deferred }: FittedTool,
  { deferLoading, ...mark }: Pick<AnthropicTool, 'cache_control'> & { deferLoading: boolean },
): AnthropicTool {
  return {
    name,
    description,
    input_schema: { ...toPlainSchema(schema), type: 'object' },
    ...(strict && { strict }),
    ...(deferLoading && deferred && { defer_loading: true }),
    ...mark,
  }
}

/** What is found later comes behind the mark, and changes nothing before it. */
function markOf(
  tool: FittedTool,
  tools: readonly FittedTool[],
  control: AnthropicOptions['cacheControl'],
): Pick<AnthropicTool, 'cache_control'> {
  if (control === undefined || tool !== tools.findLast(({ deferred }) => !deferred)) return {}
  return { cache_control: control === true ? { type: 'ephemeral' } : { ...control } }
}

function read(message: unknown): readonly AskedCall[] {
  const { content, stop_reason } = fieldsOf(message)
  if (typeof content === 'string') return []
  if (!Array.isArray(content))
    return refuseMessage(message, 'an answer of the Messages API ({ role, content, … })')
  // A stream that broke off has no reason.
  const isCut =
    stop_reason === 'max_tokens' || stop_reason === 'model_context_window_exceeded' || stop_reason === null
  const last: unknown = content.at(-1)
  return content.flatMap((block: unknown) => {
    const { type, id, name, input } = fieldsOf(block)
    if (type !== 'tool_use') return []
    return [toAskedCall({ id, name, input: readStreamedInput(input), cut: isCut && block === last })]
  })
}

function toResult(
  { call, parts, isError, found = [] }: CallAnswer,
  deferLoading: boolean,
): AnthropicReply['content'][number] {
  const references = deferLoading ? found : []
  return {
    type: 'tool_result',
    // As it came: an API that sends numbers takes them back.
    tool_use_id: (call.id ?? '') as string,
    content:
      references.length > 0
        ? references.map(({ name }) => ({ type: 'tool_reference' as const, tool_name: name }))
        : parts.map(toContent),
    ...(isError && { is_error: true }),
  }
}

function toContent(part: Part): AnthropicResultContent {
  if (part.type === 'text') return { type: 'text', text: part.text }
  const { mimeType, data, text } = part
  const image = subtypeOf(mimeType, 'image', imageTypes)
  if (image !== undefined)
    return {
      type: 'image',
      source: { type: 'base64', media_type: `image/${image as (typeof imageTypes)[number]}`, data },
    }
  if (subtypeOf(mimeType, 'application', ['pdf']) !== undefined)
    return { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data } }
  return { type: 'text', text }
}
