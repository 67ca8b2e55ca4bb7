import { SetupError, ToolFailure } from '../../contract/base/errors.ts'
import type { Tool, ToolContext } from '../../contract/tool/tool.ts'
import { assembleTool } from '../../define/assemble-tool.ts'
import type { InputSchema } from '../../define/describe-schema.ts'
import { takeInputSchema } from '../../define/take-schema.ts'
import { isObject } from '../../kit/json/is-object.ts'
import { isPlainObject } from '../../kit/json/is-plain-object.ts'
import { checkAdoptOptions, manifestOf, type AdoptOptions } from '../base/adopt-options.ts'
import { readModelOutput } from '../base/read-model-output.ts'

/** What Handrail reads of a tool of Mastra 1 (`createTool()`). */
export interface MastraTool {
  readonly id: string
  readonly title?: string | undefined
  readonly description: string
  readonly inputSchema?: unknown
  readonly execute?: ((input: never, context: never) => unknown) | undefined
  readonly toModelOutput?: ((output: never) => unknown) | undefined
  readonly requireApproval?: unknown
}

/**
 * Tools of Mastra 1 as tools of Handrail, under the names that they have in the record: each of their calls is checked, approved and
 * recorded. `execute` gets `abortSignal`, `agent.toolCallId` and `context`; Mastra checks the input once more. Models see what
 * `toModelOutput` returns, if there is one. A tool with `requireApproval` always asks. A tool that suspends fails: Handrail asks people
 * before it runs, or by `elicit`.
 *
 * Throws a `SetupError` for a tool without `execute`, for a schema that JSON Schema cannot say, and for options that name no tool.
 *
 * @example
 * const tools = fromMastra({ weather, refund }, { namespace: 'shop', permission: { weather: 'readonly' } })
 * const runtime = await createRuntime({ tools })
 */
export function fromMastra<const Tools extends { readonly [name: string]: MastraTool }>(
  tools: Tools,
  options: AdoptOptions<keyof Tools & string>,
): Tool[] {
  checkAdoptOptions(Object.keys(tools), options)
  return Object.entries(tools).map(([name, tool]) => adopt(name, tool, options))
}

type Execute = (input: unknown, context: object) => unknown
type Show = (output: unknown) => unknown

function adopt(name: string, tool: MastraTool, options: AdoptOptions): Tool {
  const { title, description, inputSchema, requireApproval = false } = tool
  // Mastra ties their types to the schema, and holds the input to it itself.
  const execute = tool.execute as Execute | undefined
  const show = tool.toModelOutput as Show | undefined
  if (execute === undefined)
    throw new SetupError(
      'invalid_definition',
      `"${name}" has no "execute": its client runs it. Leave it out, and hand it to the model as it is.`,
    )
  const known = {
    description,
    ...(title !== undefined && { title }),
    ...(requireApproval !== false && { consent: { required: true } }),
  }
  return assembleTool({
    ...manifestOf(name, known, options),
    rawInput: takeInputSchema((inputSchema ?? nothing) as InputSchema),
    async run(input: unknown, call: ToolContext) {
      const given = options.context?.(call, name)
      const output = await execute.call(tool, input, contextOf(call, isPlainObject(given) ? given : {}))
      refuseMisfit(output)
      return (show === undefined ? output : readModelOutput(await show.call(tool, output), output)) as never
    },
  })
}

const nothing = { type: 'object', properties: {}, additionalProperties: false }

/** What Mastra's agents hand to a tool (`ToolExecutionContext`). */
function contextOf({ toolCallId, signal }: ToolContext, given: Readonly<Record<string, unknown>>): object {
  return {
    abortSignal: signal,
    suspend,
    observe: { span: async (_: string, work: () => unknown) => work(), log: () => undefined },
    agent: { agentId: '', toolCallId, messages: [], suspend },
    ...given,
  }
}

async function suspend(): Promise<never> {
  throw new ToolFailure({
    reason: 'cannot_suspend',
    message:
      'The tool wanted to suspend its run, which it cannot do here. Nothing more happens. Tell the developer to ask for an approval before it runs.',
  })
}

/** Mastra returns what does not fit a schema, and does not throw it (`ValidationError`). */
function refuseMisfit(output: unknown): void {
  if (!isObject(output) || output['error'] !== true || !('validationErrors' in output)) return
  throw new ToolFailure({
    code: 'SCHEMA.VALIDATION_FAILED',
    reason: 'invalid_input',
    message: typeof output['message'] === 'string' ? output['message'] : 'Its schema refuses the input.',
  })
}
