import { describeEnd, type SdkResult } from '../base/describe-end.ts'
import type { CallEnd } from '../base/create-batch.ts'
import type { SdkDoor } from '../base/create-sdk-door.ts'
import { followProgress } from '../base/follow-progress.ts'
import type { WireTool } from '../base/present-tools.ts'
import { toModelOutput, type AiModelOutput } from '../base/to-model-output.ts'
import { toAiSchema, type AiSchema } from './to-ai-schema.ts'

/** What a tool of the door returns to the AI SDK, as plain JSON: first, any number of times, its progress, then its end. */
export type AiSdkOutput = SdkResult | AiSdkProgress

/** The progress of a call that runs: a preliminary result of the SDK. */
export interface AiSdkProgress {
  readonly outcome: 'running'
  readonly text: string
  readonly done?: number
  readonly total?: number
}

/** What of the AI SDK's `ToolExecutionOptions` a tool of the door reads. */
export interface AiExecuteOptions {
  readonly toolCallId: string
  readonly abortSignal?: AbortSignal | undefined
}

/** A tool as the AI SDK takes it. */
export interface AiSdkTool {
  readonly title: string
  readonly description: string
  readonly inputSchema: AiSchema
  execute(input: unknown, options: AiExecuteOptions): AsyncIterable<AiSdkOutput>
  toModelOutput(options: { output: unknown }): AiModelOutput
}

/** A tool of a session as one of the AI SDK. */
export function toAiTool(tool: WireTool, door: SdkDoor): AiSdkTool {
  const say = (text: string): string => door.tools.say(text)
  return {
    title: tool.title,
    description: tool.description,
    inputSchema: toAiSchema(tool.inputSchema),
    execute: (input, { toolCallId, abortSignal }) =>
      followProgress<CallEnd, AiSdkOutput>({
        run: (onProgress) => door.run(tool, { id: toolCallId, input, signal: abortSignal, onProgress }),
        showProgress: ({ message, ...counts }) => ({ outcome: 'running', text: say(message), ...counts }),
        showEnd: (end) => describeEnd(end, say),
      }),
    toModelOutput: ({ output }) => toModelOutput(output),
  }
}
