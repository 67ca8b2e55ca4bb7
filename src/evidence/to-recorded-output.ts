import type { ContentBlock, ToolOutput, ToolResult } from '../contract/base/result.ts'
import { toolOutput } from '../kit/result/tool-output.ts'

/** What a tool must return for its call to end with this result once more. */
export function toRecordedOutput(result: ToolResult): ToolOutput {
  const { data, summary, artifacts, error, metadata } = result
  return toolOutput({
    content: ownContent(result),
    summary,
    artifacts,
    ...(data !== undefined && { data }),
    ...(metadata.tool !== undefined && { metadata: metadata.tool }),
    ...(error !== undefined && {
      error: {
        code: error.code,
        reason: error.reason,
        message: error.message,
        ...(error.data !== undefined && { data: error.data }),
      },
    }),
  })
}

/** The content that came from the tool: without what the pipeline puts before it of an error, and after it of a watermark. */
export function ownContent({ content, error, metadata }: ToolResult): readonly ContentBlock[] {
  const own = error === undefined ? content : content.slice(1)
  const last = own.at(-1)
  const isMarked = last?.type === 'text' && last.text === metadata.watermark
  return isMarked ? own.slice(0, -1) : own
}
