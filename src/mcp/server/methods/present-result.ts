import type { CallToolResult } from '@modelcontextprotocol/server'
import type { PresentedTool } from '../../../contract/registry.ts'
import type { ToolResult } from '../../../contract/base/result.ts'
import { namesTools } from '../../../kit/names/names-tools.ts'
import { toMcpResult } from '../../translate/to-mcp-result.ts'
import type { Readable } from '../../translate/to-mcp-content.ts'

/** How a result is shown to one client. */
export interface ResultView {
  readonly tool: PresentedTool | undefined
  readonly readable: Readable
  /** A text with the wire names of the tools that it names. */
  readonly inWireNames: (text: string) => string
}

/**
 * An unknown tool is a result with `isError`, not a protocol error: clients show results to the model, which can then take the right
 * name, and often end the turn on protocol errors. What it says names tools as this client calls them, but for advice to the operator, who writes
 * rules.
 */
export function presentResult(
  result: ToolResult,
  { tool, readable, inWireNames }: ResultView,
): CallToolResult {
  const shown = toMcpResult(result, tool, readable)
  const { error } = result
  const [first, ...rest] = shown.content
  if (namesTools(result))
    return {
      ...shown,
      content: shown.content.map((block) =>
        block.type === 'text' ? { ...block, text: inWireNames(block.text) } : block,
      ),
    }
  if (error === undefined || first?.type !== 'text') return shown
  const advice = error.data?.['advice']
  const kept = typeof advice === 'string' ? advice : ''
  const parts = kept === '' ? [first.text] : first.text.split(kept)
  return {
    ...shown,
    content: [{ ...first, text: parts.map((part) => inWireNames(part)).join(kept) }, ...rest],
  }
}
