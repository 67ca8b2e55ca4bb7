import { outputMark, type ToolOutput } from '../../contract/base/result.ts'

/**
 * The full form of a tool's return value: content blocks for the model, data for programs, a summary, artifacts, or an error
 * beside content. A string as content is one text block.
 */
export function toolOutput(
  output: Omit<ToolOutput, typeof outputMark | 'content'> & { content?: ToolOutput['content'] | string },
): ToolOutput {
  const content =
    typeof output.content === 'string'
      ? [{ type: 'text' as const, text: output.content }]
      : (output.content ?? [])
  return { ...output, content, [outputMark]: true }
}

/** Whether a returned value is the full form. */
export function isToolOutput(value: unknown): value is ToolOutput {
  return typeof value === 'object' && value !== null && outputMark in value
}
