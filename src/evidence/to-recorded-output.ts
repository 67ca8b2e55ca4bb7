import type { ToolOutput, ToolResult } from '../contract/result.ts'
import { toolOutput } from '../kit/tool-output.ts'

/** What a tool must return for its call to end with this result once more. */
export function toRecordedOutput(result: ToolResult): ToolOutput {
  const { content, data, summary, artifacts, error, metadata } = result
  return toolOutput({
    // The first block of a failed call says what its error says; the road puts it there.
    content: error === undefined ? content : content.slice(1),
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
