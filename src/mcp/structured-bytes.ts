import type { ToolResult } from '../contract/result.ts'

/** Structured content of somebody else over this many bytes is not handed on as such: there are clients that show all of it to their model. */
export const maxStructuredBytes = 256 * 1024

/** Key of how large such content is, in what an imported tool says of its result. Other tools have keys of their own. */
export const structuredBytesKey = 'handrail/structured_bytes'

/** How large the data of a result is, where it is too large to be handed on as structured content; undefined where it is not. */
export function findLargeData({ metadata: { tool = {} } }: ToolResult): number | undefined {
  const bytes = tool[structuredBytesKey]
  return typeof bytes === 'number' ? bytes : undefined
}
