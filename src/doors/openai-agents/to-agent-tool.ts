import type { JsonObject } from '../../contract/base/json.ts'
import { parseJson } from '../../kit/json/parse-json.ts'
import type { SdkDoor } from '../base/create-sdk-door.ts'
import { describeEnd, type SdkMedia } from '../base/describe-end.ts'
import type { WireTool } from '../base/present-tools.ts'

/** A part of a result, as `@openai/agents` takes it from a tool. */
export type AgentOutputPart =
  | { type: 'text'; text: string }
  | { type: 'image'; image: { data: string; mediaType: string } }
  | { type: 'file'; file: { data: string; mediaType: string; filename: string } }

/** A function tool, as `@openai/agents` takes it. */
export interface OpenAiAgentTool {
  readonly type: 'function'
  readonly name: string
  readonly description: string
  readonly parameters: AgentParameters
  readonly strict: false
  invoke(
    context: unknown,
    input: string,
    details?: { readonly toolCall?: { readonly callId: string }; readonly signal?: AbortSignal },
  ): Promise<string | AgentOutputPart[]>
  needsApproval(context: unknown, input: unknown, callId?: string): Promise<boolean>
  isEnabled(): Promise<boolean>
}

/** The input schema of a tool, as `@openai/agents` takes it. */
export interface AgentParameters {
  type: 'object'
  properties: Record<string, JsonObject>
  required: string[]
  additionalProperties: true
}

/** A tool of a session as one of `@openai/agents`. Handrail checks the input, as the model wrote it. */
export function toAgentTool(tool: WireTool, door: SdkDoor): OpenAiAgentTool {
  return {
    type: 'function',
    name: tool.name,
    description: tool.description,
    // The SDK hands it on as it is.
    parameters: tool.inputSchema as JsonObject as unknown as AgentParameters,
    strict: false,
    async invoke(_, input, details) {
      const call = { id: details?.toolCall?.callId ?? '', input: toInput(input), signal: details?.signal }
      const { text, media } = describeEnd(await door.run(tool, call), (each) => door.tools.say(each))
      return media === undefined ? text : [{ type: 'text', text }, ...media.map(toPart)]
    },
    needsApproval: async (_, input, callId = '') =>
      (await door.ask(tool, { id: callId, input })) !== undefined,
    isEnabled: async () => true,
  }
}

/** The JSON that the SDK hands to `needsApproval`, so that one call has one name; else the text, which is recorded as it is. */
function toInput(text: string): unknown {
  try {
    return parseJson(text)
  } catch {
    return text
  }
}

function toPart({ kind, data, mimeType: mediaType, name = 'file' }: SdkMedia): AgentOutputPart {
  if (kind === 'image') return { type: 'image', image: { data, mediaType } }
  return { type: 'file', file: { data, mediaType, filename: name } }
}
