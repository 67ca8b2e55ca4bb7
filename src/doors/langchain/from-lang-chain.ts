import { SetupError, ToolFailure } from '../../contract/base/errors.ts'
import type { ContentBlock, ToolOutput } from '../../contract/base/result.ts'
import type { Json } from '../../contract/base/json.ts'
import type { JsonSchema } from '../../contract/base/schema.ts'
import type { Tool, ToolContext } from '../../contract/tool/tool.ts'
import { assembleTool } from '../../define/assemble-tool.ts'
import type { InputSchema } from '../../define/describe-schema.ts'
import { takeInputSchema } from '../../define/take-schema.ts'
import { isObject } from '../../kit/json/is-object.ts'
import { isPlainObject } from '../../kit/json/is-plain-object.ts'
import { parseJson } from '../../kit/json/parse-json.ts'
import { isIssue, toJson } from '../../kit/json/to-json.ts'
import { toolOutput } from '../../kit/result/tool-output.ts'
import { checkAdoptOptions, manifestOf, type AdoptOptions } from '../base/adopt-options.ts'

/** What Handrail reads of a tool of LangChain (`tool()` and the classes of `@langchain/core/tools` 1). */
export interface LangChainTool {
  readonly name: string
  readonly description: string
  readonly schema: unknown
  invoke(input: never, config?: never): Promise<unknown>
}

/**
 * Tools of LangChain as tools of Handrail, under their own names: each of their calls is checked, approved and recorded. They are invoked
 * with a tool call, its id, `signal` and what `context` returns as their config; LangChain checks the input once more. The content of
 * their message is what models see; its artifact is the data of the result, else the content if it is JSON. A message with the status
 * `error` fails the call. A tool that returns a `Command` of LangGraph fails, as it runs outside of a graph.
 *
 * Throws a `SetupError` for a schema that JSON Schema cannot say, for two tools of one name, and for options that name no tool.
 *
 * @example
 * const tools = fromLangChain([weather, refund], { namespace: 'shop', permission: { weather: 'readonly' } })
 * const runtime = await createRuntime({ tools })
 */
export function fromLangChain<const Name extends string>(
  tools: readonly (LangChainTool & { readonly name: Name })[],
  options: AdoptOptions<NoInfer<Name>>,
): Tool[] {
  const names = tools.map(({ name }) => name)
  checkAdoptOptions(names, options)
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined)
    throw new SetupError('invalid_options', `Two of the tools have the name "${twice}"; rename one.`)
  return tools.map((tool) => adopt(tool, options))
}

type Invoke = (call: object, config: object) => Promise<unknown>

function adopt(tool: LangChainTool, options: AdoptOptions): Tool {
  const { name, description, schema } = tool
  // LangChain ties its type to the schema, and holds the input to it itself.
  const invoke = tool.invoke.bind(tool) as unknown as Invoke
  return assembleTool({
    ...manifestOf(name, { description }, options),
    rawInput: readSchema(schema),
    async run(args: unknown, call: ToolContext) {
      const given = options.context?.(call, name)
      const config = { ...(isPlainObject(given) ? given : {}), signal: call.signal }
      try {
        const message = await invoke({ type: 'tool_call', id: call.toolCallId, name, args }, config)
        return readMessage(message)
      } catch (error) {
        throw isParsing(error) ? misfit(error) : error
      }
    },
  })
}

/** Tools that take a text have a schema of zod 3 that LangChain made (`Tool`, `DynamicTool`). */
function readSchema(schema: unknown): JsonSchema {
  const { _def: definition }: { _def?: unknown } = isObject(schema) ? schema : {}
  const { typeName }: { typeName?: unknown } = isObject(definition) ? definition : {}
  if (typeName === 'ZodEffects')
    return { type: 'object', properties: { input: { type: 'string' } }, additionalProperties: false }
  return takeInputSchema(schema as InputSchema)
}

function isParsing(error: unknown): error is Error {
  return error instanceof Error && error.constructor.name === 'ToolInputParsingException'
}

function misfit({ message }: Error): ToolFailure {
  return new ToolFailure({ code: 'SCHEMA.VALIDATION_FAILED', reason: 'invalid_input', message })
}

/** A `ToolMessage`: its content for models, its artifact for programs. */
function readMessage(message: unknown): ToolOutput {
  const { content, artifact, status }: Record<string, unknown> = isObject(message) ? message : {}
  if (typeof content !== 'string' && !Array.isArray(content))
    throw new ToolFailure({
      reason: 'no_message',
      message:
        'The tool returned no content but a command for a graph, and there is none here. Tell its developer.',
    })
  const blocks = typeof content === 'string' ? [textBlock(content)] : content.map(toBlock)
  if (status === 'error')
    return toolOutput({ error: { reason: 'tool_error', message: textOf(blocks) || 'The tool failed.' } })
  const data = artifact === undefined ? dataOf(content) : toData(artifact)
  return toolOutput({ content: blocks, ...(data !== undefined && { data }) })
}

function textOf(blocks: readonly ContentBlock[]): string {
  return blocks.map((block) => (block.type === 'text' ? block.text : '')).join('\n')
}

function toData(value: unknown): Json | undefined {
  const copied = toJson(value)
  return isIssue(copied) ? undefined : copied.json
}

/** What a tool returned as an object comes as its JSON. */
function dataOf(content: unknown): Json | undefined {
  if (typeof content !== 'string') return undefined
  const parsed = /^\s*[[{]/.test(content) ? parseJson(content) : undefined
  return parsed ?? content
}

function textBlock(text: string): ContentBlock {
  return { type: 'text', text }
}

/** A block of a message (`ContentBlock` of LangChain 1, and those of OpenAI and Anthropic that it takes). */
function toBlock(given: unknown): ContentBlock {
  const {
    type,
    text,
    data,
    mimeType,
    mime_type: older,
    url,
    image_url: image,
  }: Record<string, unknown> = isObject(given) ? given : {}
  if (type === 'text') return textBlock(String(text))
  const mime = typeof mimeType === 'string' ? mimeType : older
  if ((type === 'image' || type === 'audio') && typeof data === 'string' && typeof mime === 'string')
    return { type, data, mimeType: mime }
  const link = type === 'image_url' && isObject(image) ? image['url'] : (url ?? image)
  if (typeof link === 'string') return toLink(link)
  const block = toData(given)
  return isPlainObject(block) ? { type: 'other', block } : textBlock('')
}

function toLink(url: string): ContentBlock {
  const [, mimeType, data] = /^data:(image\/[\w.+-]+);base64,(.*)$/s.exec(url) ?? []
  if (mimeType !== undefined && data !== undefined) return { type: 'image', data, mimeType }
  return { type: 'resource', uri: url }
}
