import type { WaitingCall } from '../../contract/pending-approval.ts'
import type { Session } from '../../contract/runtime.ts'
import { isObject } from '../../kit/json/is-object.ts'
import type { SdkCall, SdkDoor } from '../base/create-sdk-door.ts'
import { describeEnd } from '../base/describe-end.ts'
import { needApprovals, type SdkDoorOptions } from '../base/door-options.ts'
import type { WireTool } from '../base/present-tools.ts'
import { recordAnswer } from '../base/record-answers.ts'
import { readSaidAnswer, toSuspendedCalls } from '../base/suspended-approval.ts'
import { toModelOutput } from '../base/to-model-output.ts'
import { toStandardSchema, type WireSchema } from '../base/to-standard-schema.ts'

/** `createTool` of `@mastra/core/tools`. */
export type MakeMastraTool<Made> = (fields: {
  id: string
  description: string
  inputSchema: WireSchema
  execute: (input: unknown, context: unknown) => Promise<never>
  toModelOutput: (output: unknown) => unknown
}) => Made

/** What a tool of Mastra stands on. */
export interface MastraContext<Made> {
  readonly make: MakeMastraTool<Made>
  readonly session: Session
  readonly door: SdkDoor
  readonly options: SdkDoorOptions
}

/** What Mastra says of a call. */
interface Made {
  readonly call: SdkCall
  readonly suspend: ((payload: object) => Promise<unknown>) | undefined
  readonly resumeData: unknown
}

/** A tool of a session as one of Mastra. */
export function toMastraTool<Tool>(tool: WireTool, context: MastraContext<Tool>): Tool {
  const { make, door } = context
  return make({
    id: tool.name,
    description: tool.description,
    inputSchema: toStandardSchema(tool.inputSchema),
    async execute(input, given) {
      const { call, suspend, resumeData } = readContext(input, given)
      let end = await door.run(tool, call)
      if (
        end.waiting !== undefined &&
        (await hear(resumeData, { tool, call, waiting: end.waiting }, context))
      )
        end = await door.run(tool, call)
      if (end.waiting !== undefined && suspend !== undefined) {
        const { approval } = end.waiting
        return (await suspend(toSuspendedCalls([{ tool, call, approval }]))) as never
      }
      // Mastra ties the result to an output schema, and there is none.
      return describeEnd(end, (text) => door.tools.say(text)) as never
    },
    toModelOutput,
  })
}

/** Records what the data of a resumed run says of this question. False if that is nothing. */
async function hear(
  resumeData: unknown,
  { tool, call, waiting }: { tool: WireTool; call: SdkCall; waiting: WaitingCall },
  { session, door, options }: MastraContext<unknown>,
): Promise<boolean> {
  const { id } = waiting.approval
  const said = readSaidAnswer(resumeData, id)
  if (said === undefined) return false
  const { by, ...rest } = said
  const approvals = needApprovals('mastra', options)
  const answer = { tool, call, ...rest, approvalId: id }
  await recordAnswer(answer, { session, door, approvals, by, comesBack: true })
  return true
}

/** Of an agent, of a step of a workflow, or of a call by itself. */
function readContext(input: unknown, given: unknown): Made {
  const context = isObject(given) ? given : {}
  const [inner = context] = [context['agent'], context['workflow']].filter(isObject)
  const { toolCallId, suspend } = inner
  const { abortSignal } = context
  return {
    call: {
      id: typeof toolCallId === 'string' ? toolCallId : '',
      input,
      signal: abortSignal instanceof AbortSignal ? abortSignal : undefined,
    },
    suspend: typeof suspend === 'function' ? async (payload) => suspend(payload) as unknown : undefined,
    resumeData: inner['resumeData'] ?? context['resumeData'],
  }
}
