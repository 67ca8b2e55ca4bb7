import { SetupError, ToolFailure } from '../../contract/base/errors.ts'
import type { JsonSchema } from '../../contract/base/schema.ts'
import type { Tool, ToolContext } from '../../contract/tool/tool.ts'
import { assembleTool } from '../../define/assemble-tool.ts'
import type { InputSchema } from '../../define/describe-schema.ts'
import { isStandardSchema } from '../../define/standard-schema.ts'
import { takeInputSchema } from '../../define/take-schema.ts'
import { isObject } from '../../kit/json/is-object.ts'
import {
  checkAdoptOptions,
  manifestOf,
  type AdoptedManifest,
  type AdoptOptions,
} from '../base/adopt-options.ts'
import { readModelOutput } from '../base/read-model-output.ts'

/** What Handrail reads of a tool of the AI SDK (`tool()` and `dynamicTool()` of `ai` 5 to 7). */
export interface AiTool {
  readonly description?: unknown
  readonly title?: string | undefined
  /** A schema of zod, Valibot or ArkType, or the SDK's `jsonSchema()` and `zodSchema()`. */
  readonly inputSchema: unknown
  readonly execute?: ((input: never, options: never) => unknown) | undefined
  readonly toModelOutput?: ((options: never) => unknown) | undefined
  readonly needsApproval?: unknown
}

/**
 * Tools of the AI SDK as tools of Handrail, under the names that they have in the set: each of their calls is checked, approved and
 * recorded. `execute` gets `toolCallId`, `abortSignal` and `context`, with empty `messages`. What it yields is progress, and what it
 * yields last is the result. Models see what `toModelOutput` returns, if there is one. A tool with `needsApproval` always asks. The
 * `outputSchema` is a type for the SDK, and checks nothing here.
 *
 * Throws a `SetupError` for a tool without `execute`, for a schema that JSON Schema cannot say, and for options that name no tool.
 *
 * @example
 * const tools = fromAiTools({ weather, refund }, { namespace: 'shop', permission: { weather: 'readonly' } })
 * const runtime = await createRuntime({ tools })
 */
export function fromAiTools<const Tools extends { readonly [name: string]: AiTool }>(
  tools: Tools,
  options: AdoptOptions<keyof Tools & string>,
): Tool[] {
  checkAdoptOptions(Object.keys(tools), options)
  return Object.entries(tools).map(([name, tool]) => adopt(name, tool, options))
}

type Execute = (input: unknown, options: object) => unknown
type Show = (options: { toolCallId: string; input: unknown; output: unknown }) => unknown

function adopt(name: string, tool: AiTool, options: AdoptOptions): Tool {
  // The SDK ties their types to the schema, and Handrail hands them what passed it.
  const execute = tool.execute as Execute | undefined
  if (execute === undefined)
    throw new SetupError(
      'invalid_definition',
      `"${name}" has no "execute": its client or its provider runs it. Leave it out, and hand it to the model as it is.`,
    )
  const show = tool.toModelOutput as Show | undefined
  const { input, check } = readSchema(name, tool.inputSchema)
  const manifest = manifestOf(name, knownOf(name, tool, options), options)
  return assembleTool({
    ...manifest,
    ...input,
    async run(given: unknown, call: ToolContext) {
      const value = check === undefined ? given : await check(given)
      const context = options.context?.(call, name)
      const { toolCallId } = call
      const returned = execute.call(tool, value, {
        toolCallId,
        messages: [],
        abortSignal: call.signal,
        context,
        experimental_context: context,
      })
      const output = isIterable(returned) ? await lastOf(returned, call) : await returned
      if (show === undefined) return output as never
      return readModelOutput(await show.call(tool, { toolCallId, input: value, output }), output)
    },
  })
}

function knownOf(name: string, tool: AiTool, options: AdoptOptions): AdoptedManifest {
  const { description = '', title, needsApproval = false } = tool
  const own = options.tools?.[name]?.description
  if (typeof description !== 'string' && own === undefined)
    throw new SetupError(
      'invalid_definition',
      `The description of "${name}" is made for each call of a model. Say one for all: { tools: { "${name}": { description: "…" } } }.`,
    )
  return {
    ...(typeof description === 'string' && { description }),
    ...(title !== undefined && { title }),
    ...(needsApproval !== false && { consent: { required: true } }),
  }
}

/** A schema of a library is checked as that of any tool; one of the SDK checks its input itself, and may take its time for it. */
interface ReadSchema {
  readonly input: { input: InputSchema } | { rawInput: JsonSchema }
  readonly check?: (value: unknown) => Promise<unknown>
}

function readSchema(name: string, given: unknown): ReadSchema {
  const schema: unknown = typeof given === 'function' && !isStandardSchema(given) ? given() : given
  if (isStandardSchema(schema)) return { input: { input: schema } }
  const { jsonSchema, validate }: { jsonSchema?: unknown; validate?: unknown } = isObject(schema)
    ? schema
    : {}
  if (!isObject(jsonSchema) || 'then' in jsonSchema)
    throw new SetupError(
      'unsupported_schema',
      `The input schema of "${name}" gives no JSON Schema at once. Use zod, or jsonSchema() with the schema itself, not a promise of it.`,
    )
  const rawInput = takeInputSchema(jsonSchema)
  if (typeof validate !== 'function') return { input: { rawInput } }
  return { input: { rawInput }, check: async (value) => readValidation(await validate(value)) }
}

function readValidation(answer: unknown): unknown {
  const { success, value, error }: { success?: unknown; value?: unknown; error?: unknown } = isObject(answer)
    ? answer
    : {}
  if (success === true) return value
  throw new ToolFailure({
    code: 'SCHEMA.VALIDATION_FAILED',
    reason: 'invalid_input',
    message: `The input does not fit: ${error instanceof Error ? error.message : 'its schema refuses it.'}`,
  })
}

function isIterable(returned: unknown): returned is AsyncIterable<unknown> {
  return isObject(returned) && typeof returned[Symbol.asyncIterator as never] === 'function'
}

/** Each value stands for the whole so far. Only that there is one is shown: the policy has not seen it. */
async function lastOf(values: AsyncIterable<unknown>, { signal, progress }: ToolContext): Promise<unknown> {
  let last: unknown
  for await (const value of values) {
    last = value
    if (signal.aborted) break
    progress({})
  }
  return last
}
