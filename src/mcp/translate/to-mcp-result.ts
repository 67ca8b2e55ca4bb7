import type { CallToolResult, ContentBlock as McpBlock } from '@modelcontextprotocol/server'
import type { CallError } from '../../contract/base/errors.ts'
import type { JsonObject } from '../../contract/base/json.ts'
import type { PresentedTool } from '../../contract/registry.ts'
import type { ToolResult } from '../../contract/base/result.ts'
import { toArtifactUri } from '../../kit/result/artifact-uri.ts'
import { isPlainObject } from '../../kit/json/is-plain-object.ts'
import { toWireMedia } from '../../kit/result/to-wire-result.ts'
import { toArtifactLink, toKnownContent, type Readable } from './to-mcp-content.ts'

/** Key of the facts about a call in the `_meta` of its result. */
export const callMetaKey = 'handrail/call'

/**
 * A result as `tools/call` returns it. The first text of a failed call says code, reason and message, so that a model can
 * act on it. `structuredContent` is the data of a successful call of a tool with an object as output schema: clients
 * check it against that schema. What the client can read beside it is linked. Data that is too large for that is left out, and said to be.
 */
export function toMcpResult(
  result: ToolResult,
  tool: PresentedTool | undefined,
  readable: Readable = {},
): CallToolResult {
  const promised = tool?.outputSchema?.type === 'object'
  const withheld = promised ? result.metadata.withheld : undefined
  return {
    content: [
      ...(result.ok && withheld !== undefined ? [leftOut(withheld)] : []),
      ...toContent(result, readable),
      ...linkRest(result, readable),
    ],
    ...(result.ok && promised && isPlainObject(result.data) && { structuredContent: result.data }),
    // Clients refuse a success without the structured content that the tool promises.
    ...((!result.ok || withheld !== undefined) && { isError: true }),
    _meta: { [callMetaKey]: describeCall(result) },
  }
}

/** First, as a client calls it an error. */
function leftOut(why: string): McpBlock {
  return { type: 'text', text: `The call was done, and need not be made again. ${why}` }
}

function toContent({ content, data, summary, error }: ToolResult, readable: Readable): McpBlock[] {
  const blocks = content.flatMap((block) => toKnownContent(block, readable))
  const [first] = blocks
  if (error !== undefined && !(first?.type === 'text' && first.text.startsWith(error.code)))
    return [{ type: 'text', text: describeError(error) }, ...blocks]
  if (first !== undefined) return blocks
  // A tool that returns data only still has something to read for clients that know no structured content.
  return [{ type: 'text', text: data === undefined ? summary : JSON.stringify(data) }]
}

/** Artifacts that no block shows. */
function linkRest({ content, artifacts }: ToolResult, { artifactsOf: call }: Readable): McpBlock[] {
  if (call === undefined || artifacts.length === 0) return []
  const shown = new Set(content.map((block) => block.type === 'artifact_ref' && block.artifact.digest))
  return artifacts
    .filter(({ digest }) => !shown.has(digest))
    .map((artifact) => toArtifactLink(artifact, toArtifactUri({ call, digest: artifact.digest })))
}

function describeError(error: CallError): string {
  const issues = (error.issues ?? []).map((issue) => `- ${issue.pointer || '/'}: ${issue.message}`)
  return [`${error.code} (${error.reason}): ${error.message}`, ...issues].join('\n')
}

/** Facts for programs, in the words of the wire. */
function describeCall(result: ToolResult): JsonObject {
  const { metadata, error } = result
  return {
    call_id: result.callId,
    tool: result.tool,
    outcome: result.outcome,
    duration_ms: metadata.durationMs,
    ...(metadata.sandbox !== undefined && { sandbox: metadata.sandbox }),
    ...(metadata.tool !== undefined && { details: { ...metadata.tool } }),
    ...(error !== undefined && {
      code: error.code,
      reason: error.reason,
      actor: error.actor,
      next: error.next,
    }),
    ...(result.artifacts.length > 0 && {
      artifacts: result.artifacts.map(({ digest, bytes, mimeType, name, truncated }) => ({
        digest,
        bytes,
        mime_type: mimeType,
        ...(name !== undefined && { name }),
        ...(truncated === true && { truncated }),
      })),
    }),
    ...(metadata.truncated !== undefined && {
      truncated: { bytes: metadata.truncated.bytes, shown_bytes: metadata.truncated.shownBytes },
    }),
    ...(metadata.repairs !== undefined &&
      metadata.repairs.length > 0 && { repairs: metadata.repairs.map((repair) => ({ ...repair })) }),
    ...(metadata.partial === true && { partial: true }),
    ...(metadata.abortReason !== undefined && { abort_reason: metadata.abortReason }),
    ...(metadata.replayed === true && { replayed: true }),
    ...(metadata.deprecated !== undefined && { deprecated: metadata.deprecated }),
    ...(metadata.media !== undefined && { media: metadata.media.map(toWireMedia) }),
    ...(metadata.obligations !== undefined && { obligations: [...metadata.obligations] }),
    ...(metadata.watermark !== undefined && { watermark: metadata.watermark }),
    ...(metadata.withheld !== undefined && { withheld: metadata.withheld }),
  }
}
