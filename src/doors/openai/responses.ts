import type { Session } from '../../contract/runtime.ts'
import { providerNames } from '../../kit/names/name-codec.ts'
import { isWholeJson } from '../../kit/json/is-whole-json.ts'
import { searchingTool } from '../../kit/names/names-tools.ts'
import { toAskedCall, type AskedCall } from '../base/asked-call.ts'
import { createDoor, type CallAnswer } from '../base/create-door.ts'
import { toPlainSchema, type FittedTool } from '../base/fit-tools.ts'
import { imageTypes, subtypeOf } from '../base/media-types.ts'
import { fieldsOf, refuseMessage } from '../base/message-fields.ts'
import type { DeferLoadingOptions, DoorOptions, ModelDoor, StrictOptions } from '../base/model-door.ts'
import type { RuleQuery } from '../rules/find-rules.ts'
import type { Part } from '../base/result-parts.ts'
import { checkResponsesRequest } from './check-request.ts'
import { collectResponse } from './collect-response.ts'
import type {
  OpenAIFunctionTool,
  OpenAIResponse,
  OpenAIResponsesContent,
  OpenAIResponsesReply,
  OpenAIResponsesTool,
} from './messages.ts'

/** Options of the doors to OpenAI's APIs. */
export interface OpenAIOptions extends DoorOptions, StrictOptions {}

/** Options of the door to the Responses API. */
export interface OpenAIResponsesOptions extends OpenAIOptions, DeferLoadingOptions {}

/** A door to the Responses API of OpenAI. */
export type OpenAIResponsesDoor = ModelDoor<OpenAIResponsesTool, OpenAIResponse, OpenAIResponsesReply>

/**
 * A session as tools of the Responses API (https://platform.openai.com/docs/api-reference/responses). Throws a SetupError for faulty options,
 * and for tools that the API does not take.
 */
export function openaiResponses(session: Session, options: OpenAIResponsesOptions = {}): OpenAIResponsesDoor {
  const { presentation, deferLoading = false } = options
  const searching = presentation === 'compatible' ? 'ToolSearch' : 'tools__search'
  const query: RuleQuery = { api: 'openai-responses', model: options.model }
  return createDoor<OpenAIResponsesTool, OpenAIResponse, OpenAIResponsesReply>(session, options, {
    provider: 'OpenAI',
    query,
    names: providerNames.openai,
    options: ['strict', 'deferLoading'],
    define: (tools) => (deferLoading ? tools.filter(isShown).map(toOwnOrSearch) : tools.map(toFunction)),
    read: (response) => read(response, searching),
    reply: (answers) => answers.map(toReply),
    collect: collectResponse,
    check: (request) => checkResponsesRequest(request, query),
  })
}

/** What the search found, its results bring. */
function isShown({ deferred }: FittedTool): boolean {
  return !deferred
}

function toOwnOrSearch(tool: FittedTool): OpenAIResponsesTool {
  if (tool.canonical !== searchingTool) return toFunction(tool)
  const { description, schema } = tool
  return { type: 'tool_search', execution: 'client', description, parameters: toPlainSchema(schema) }
}

function toFunction({ name, description, schema, strict }: FittedTool): OpenAIFunctionTool {
  return { type: 'function', name, description, parameters: toPlainSchema(schema), strict }
}

/** `searching` is the name of the tool that searches, which the API does not repeat. */
function read(response: unknown, searching: string): readonly AskedCall[] {
  const { output, status } = fieldsOf(response)
  if (!Array.isArray(output)) return refuseMessage(response, 'an answer of the Responses API ({ output, … })')
  const isCut = status === 'incomplete' || status === null
  const last: unknown = output.at(-1)
  return output.flatMap((item: unknown) => {
    const { type, call_id: id, name, arguments: text, status: own, caller, execution } = fieldsOf(item)
    // Calls of a program are in progress until they have a result.
    const cut = own === 'incomplete' || (isCut && item === last)
    if (type === 'tool_search_call' && execution === 'client')
      return [toAskedCall({ id, name: searching, input: text, cut, echo: { search: true } })]
    // Custom tools are the program's own, or run at the provider.
    if (type !== 'function_call') return []
    const isEmpty = text === undefined || text === null || text === ''
    const echo = caller === undefined || caller === null ? undefined : { caller }
    return [
      toAskedCall({ id, name, input: isEmpty && !cut ? {} : text, cut: cut && !isWholeJson(text), echo }),
    ]
  })
}

function toReply({ call, parts, found = [] }: CallAnswer): OpenAIResponsesReply {
  if (call.echo?.['search'] === true)
    return {
      type: 'tool_search_output',
      call_id: (call.id ?? '') as string,
      execution: 'client',
      status: 'completed',
      tools: found.map((tool) => ({ ...toFunction(tool), defer_loading: true })),
    }
  const caller = call.echo?.['caller']
  const [first, ...rest] = parts
  const output = first?.type === 'text' && rest.length === 0 ? first.text : parts.map(toContent)
  const call_id = (call.id ?? '') as string
  return {
    type: 'function_call_output',
    call_id,
    output,
    ...(caller !== undefined && { caller: caller as { type: 'program'; caller_id: string } }),
  }
}

function toContent(part: Part): OpenAIResponsesContent {
  if (part.type === 'text') return { type: 'input_text', text: part.text }
  const { mimeType, data, name, text } = part
  const image = subtypeOf(mimeType, 'image', imageTypes)
  if (image !== undefined)
    return { type: 'input_image', image_url: `data:image/${image};base64,${data}`, detail: 'auto' }
  if (subtypeOf(mimeType, 'application', ['pdf']) !== undefined)
    return { type: 'input_file', filename: toPdfName(name), file_data: `data:application/pdf;base64,${data}` }
  return { type: 'input_text', text }
}

/** The API reads what a file is from its name. */
export function toPdfName(name: string): string {
  return /\.pdf$/i.test(name) ? name : `${name}.pdf`
}
