import type { JsonObject } from '../../contract/base/json.ts'
import { isObject } from '../../kit/json/is-object.ts'
import { isPlainObject } from '../../kit/json/is-plain-object.ts'
import type { SdkCall, SdkDoor } from '../base/create-sdk-door.ts'
import { describeEnd, type SdkResult, type SdkMedia } from '../base/describe-end.ts'
import type { WireTool } from '../base/present-tools.ts'
import type { GraphApprovals } from './graph-approvals.ts'

/** `tool` of `@langchain/core/tools`. */
export type MakeLangChainTool<Made> = (
  run: (input: never, config: never) => Promise<[LangChainContent, SdkResult]>,
  fields: {
    name: string
    description: string
    schema: JsonObject & { type: 'object' }
    responseFormat: 'content_and_artifact'
  },
) => Made

/** What a model sees of a result: standard content blocks of LangChain, if it has more than text. */
export type LangChainContent =
  | string
  | (
      | { type: 'text'; text: string }
      | { type: 'image' | 'audio' | 'file'; source_type: 'base64'; data: string; mime_type: string }
    )[]

/** What a tool of LangChain stands on. */
export interface LangChainContext<Made> {
  readonly make: MakeLangChainTool<Made>
  readonly door: SdkDoor
  readonly approvals: GraphApprovals
}

/** A tool of a session as one of LangChain. Its result is the `artifact` of its message; that of a failed call has the status `error`. */
export function toLangChainTool<Made>(
  tool: WireTool,
  { make, door, approvals }: LangChainContext<Made>,
): Made {
  const run = async (input: unknown, given: unknown): Promise<[LangChainContent, SdkResult]> => {
    const config: { readonly [field: string]: unknown } = isObject(given) ? { ...given } : {}
    const call = toCall(input, config)
    for (;;) {
      const end = await door.run(tool, call)
      if (end.waiting !== undefined && approvals.canAsk(config)) {
        await approvals.ask([{ tool, call, approval: end.waiting.approval }])
        continue
      }
      const described = describeEnd(end, (text) => door.tools.say(text))
      return [toContent(described), described]
    }
  }
  const made = make(run, {
    name: tool.name,
    description: tool.description,
    schema: tool.inputSchema,
    responseFormat: 'content_and_artifact',
  })
  return leaveChecksToHandrail(made)
}

type Call = (this: object, ...given: unknown[]) => Promise<unknown>

/** LangChain would throw for a wrong input before Handrail could record it, and marks every message of a tool as a success. */
function leaveChecksToHandrail<Made>(made: Made): Made {
  const target = made as { call?: Call }
  const { call } = target
  if (call === undefined) return made
  target.call = async function callUnchecked(...given) {
    const unchecked: object = Object.create(this, { schema: { value: {} } })
    const message = await call.apply(unchecked, given)
    if (isObject(message) && 'artifact' in message && 'status' in message) {
      const { artifact } = message
      if (isPlainObject(artifact) && artifact['ok'] === false) message.status = 'error'
    }
    return message
  }
  return made
}

function toCall(input: unknown, config: { readonly [field: string]: unknown }): SdkCall {
  const { toolCall, signal, writer } = config
  const id = isObject(toolCall) && 'id' in toolCall ? toolCall.id : config['toolCallId']
  const callId = typeof id === 'string' ? id : ''
  return {
    id: callId,
    input,
    signal: signal instanceof AbortSignal ? signal : undefined,
    ...(typeof writer === 'function' && {
      onProgress: (update) => void writer({ type: 'tool_progress', toolCallId: callId, ...update }),
    }),
  }
}

function toContent({ text, media }: SdkResult): LangChainContent {
  return media === undefined ? text : [{ type: 'text', text }, ...media.map(toBlock)]
}

function toBlock({ kind, data, mimeType }: SdkMedia) {
  return { type: kind, source_type: 'base64', data, mime_type: mimeType } as const
}
