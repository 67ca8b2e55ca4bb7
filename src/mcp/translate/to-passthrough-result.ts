import type { CallToolResult, ReadResourceResult } from '@modelcontextprotocol/server'
import type { CallError } from '../../contract/base/errors.ts'
import type { ContentBlock, ToolResult } from '../../contract/base/result.ts'
import { isPlainObject } from '../../kit/json/is-plain-object.ts'
import { readUntrusted } from '../../kit/text/mark-untrusted.ts'
import { toFitting, toMcpContent } from './to-mcp-content.ts'
import { toMcpResult } from './to-mcp-result.ts'

/** An error of the protocol, as a server gave it. */
export interface ServerError {
  readonly code: number
  readonly message: string
  readonly data: unknown
}

/**
 * A result for a client that knows that it speaks with this server: as the server said it, without the marks that say that it is data.
 * What Handrail itself says of the call, such as that it is denied, stays in its own words.
 */
export function toPassthroughResult(result: ToolResult): CallToolResult {
  const shown = toMcpResult(result, undefined)
  if (!isOfServer(result)) return shown
  const { _meta } = result.metadata.tool ?? {}
  return {
    content: ownBlocks(result).map((block) => toFitting(toMcpContent(block))),
    ...(isPlainObject(result.data) && { structuredContent: result.data }),
    ...(!result.ok && { isError: true }),
    _meta: { ...(isPlainObject(_meta) ? _meta : {}), ...shown._meta },
  }
}

/** What a server gave when it was asked to read. */
export function toPassthroughContents(result: ToolResult): ReadResourceResult {
  const contents = ownBlocks(result).flatMap((block) => {
    const shown = toMcpContent(block)
    return shown.type === 'resource' && isPlainObject(shown.resource) ? [shown.resource] : []
  })
  return { contents }
}

/** The refusal of the server, where the call failed by one. */
export function findServerError({
  message,
  reason,
  data,
}: Pick<CallError, 'message' | 'reason' | 'data'>): ServerError | undefined {
  const code = data?.['code']
  if (reason !== 'upstream_error' || typeof code !== 'number') return undefined
  return { code, message, data: data?.['data'] }
}

function isOfServer({ ok, error }: ToolResult): boolean {
  return ok || error?.reason === 'upstream_error'
}

/** Without the words that the pipeline puts before those of a failed call, and without marks. */
function ownBlocks({ content, error }: ToolResult): ContentBlock[] {
  return content.slice(error === undefined ? 0 : 1).map(unmark)
}

function unmark(block: ContentBlock): ContentBlock {
  if (block.type !== 'text' && block.type !== 'resource') return block
  const own = block.text === undefined ? undefined : readUntrusted(block.text)
  return own === undefined ? block : { ...block, text: own }
}
