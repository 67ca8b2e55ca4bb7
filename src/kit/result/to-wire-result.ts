import type { CallError } from '../../contract/base/errors.ts'
import type { Artifact, ContentBlock, MediaSummary, ToolResult } from '../../contract/base/result.ts'
import type { Json, JsonObject } from '../../contract/base/json.ts'
import { toArtifactUri } from './artifact-uri.ts'
import { mediaOf, sayMedia } from './media-of.ts'
import { markUntrusted } from '../text/mark-untrusted.ts'

/** A result as programs outside read it: snake_case names, the text derived from its blocks, `is_error`. */
export function toWireResult(result: ToolResult): JsonObject {
  const { metadata } = result
  return clean({
    call_id: result.callId,
    tool_call_id: result.toolCallId,
    tool: result.tool,
    ok: result.ok,
    is_error: !result.ok,
    outcome: result.outcome,
    summary: result.summary,
    content: result.content.map((block) => toWireBlock(block, result.callId)),
    text: resultText(result),
    data: result.data,
    artifacts: result.artifacts.map((artifact) => toWireArtifact(artifact, result.callId)),
    error: result.error === undefined ? undefined : toWireError(result.error),
    metadata: clean({
      session: metadata.session,
      duration_ms: metadata.durationMs,
      raw_name: metadata.rawName,
      raw_id: metadata.rawId,
      aborted: metadata.aborted,
      partial: metadata.partial,
      abort_reason: metadata.abortReason,
      truncated:
        metadata.truncated === undefined
          ? undefined
          : { bytes: metadata.truncated.bytes, shown_bytes: metadata.truncated.shownBytes },
      repairs: metadata.repairs?.map((repair) => ({ ...repair })),
      replayed: metadata.replayed,
      approval: metadata.approval && { ...metadata.approval },
      hook_notes: metadata.hookNotes && [...metadata.hookNotes],
      deprecated: metadata.deprecated,
      media: metadata.media?.map(toWireMedia),
      obligations: metadata.obligations && [...metadata.obligations],
      watermark: metadata.watermark,
      withheld: metadata.withheld,
      data_artifact: metadata.dataArtifact && toWireArtifact(metadata.dataArtifact, result.callId),
      sandbox: metadata.sandbox,
      tool: metadata.tool === undefined ? undefined : { ...metadata.tool },
    }),
  })
}

/** An error as programs outside read it. */
export function toWireError(error: CallError): JsonObject {
  return clean({
    code: error.code,
    reason: error.reason,
    message: error.message,
    actor: error.actor,
    next: error.next,
    issues: error.issues?.map((issue) => ({ ...issue })),
    data: error.data === undefined ? undefined : { ...error.data },
  })
}

/** What an image, sound or film is, as programs outside read it. */
export function toWireMedia({ mimeType, ...media }: MediaSummary): JsonObject {
  return { mime_type: mimeType, ...media }
}

/** The text of a result: its blocks in order, each as text. Artifacts stand in it by the URI that `artifact.read` takes. */
export function resultText(
  result: Pick<ToolResult, 'content'> & { callId?: string; metadata?: Pick<ToolResult['metadata'], 'media'> },
): string {
  const about = mediaOf(result)
  return result.content.map((block) => blockText(block, about(block), result.callId)).join('\n')
}

function blockText(block: ContentBlock, media: MediaSummary | undefined, call: string | undefined): string {
  switch (block.type) {
    case 'text':
      return block.text
    case 'json':
      return JSON.stringify(block.json)
    case 'image':
    case 'audio':
      return `[${block.type} ${media === undefined ? `${block.mimeType}, ${sizeOf(block.data)} bytes` : sayMedia(media)}]`
    case 'resource':
      return block.text ?? `[resource ${block.uri}${media === undefined ? '' : `: ${sayMedia(media)}`}]`
    case 'artifact_ref':
      return `[artifact ${nameOf(block.artifact, call)}, ${block.artifact.bytes} bytes${block.note === undefined ? '' : `: ${block.note}`}]`
    case 'other':
      return markUntrusted(JSON.stringify(block.block), 'the tool', 'a server elsewhere')
  }
}

function sizeOf(base64: string): number {
  return Buffer.byteLength(base64, 'base64')
}

function nameOf({ digest }: Artifact, call: string | undefined): string {
  return call === undefined ? digest : toArtifactUri({ call, digest })
}

function toWireBlock(block: ContentBlock, call: string): JsonObject {
  switch (block.type) {
    case 'text':
    case 'json':
      return { ...block }
    case 'other':
      return { ...block }
    case 'image':
    case 'audio':
      return clean({ type: block.type, data: block.data, mime_type: block.mimeType, aside: block.aside })
    case 'resource':
      return clean({
        type: 'resource',
        uri: block.uri,
        name: block.name,
        mime_type: block.mimeType,
        text: block.text,
        blob: block.blob,
        server: block.server,
        aside: block.aside,
      })
    case 'artifact_ref':
      return clean({ type: 'artifact_ref', artifact: toWireArtifact(block.artifact, call), note: block.note })
  }
}

function toWireArtifact(artifact: Artifact, call: string): JsonObject {
  return clean({
    uri: toArtifactUri({ call, digest: artifact.digest }),
    digest: artifact.digest,
    bytes: artifact.bytes,
    mime_type: artifact.mimeType,
    name: artifact.name,
    truncated: artifact.truncated,
  })
}

function clean(fields: { [key: string]: Json | undefined }): JsonObject {
  return Object.fromEntries(
    Object.entries(fields).filter((field): field is [string, Json] => field[1] !== undefined),
  )
}
