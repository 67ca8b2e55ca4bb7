import type { JsonObject } from '../../contract/base/json.ts'
import type { ContentBlock, MediaSummary, Outcome, ToolResult } from '../../contract/base/result.ts'
import { mediaOf } from '../../kit/result/media-of.ts'
import { resultText } from '../../kit/result/to-wire-result.ts'
import type { CallEnd } from './create-batch.ts'

/** An image or sound of a result, and its summary; `data` is base64. */
export interface SdkMedia extends Partial<Omit<MediaSummary, 'kind' | 'mimeType'>> {
  readonly kind: 'image' | 'audio' | 'file'
  readonly data: string
  readonly mimeType: string
  readonly name?: string
}

/** What a call that waits for a person waits for. */
export interface AskedApproval {
  readonly id: string
  /** Names exactly what is asked: an answer that carries it counts for nothing else. */
  readonly digest: string
  /** What the call would do, in a line. */
  readonly title: string
  /** Milliseconds since the epoch. */
  readonly expiresAt: number
}

/** The end of a call as plain JSON, in the words of models. */
export interface SdkResult {
  readonly ok: boolean
  readonly outcome: Outcome
  /** Handrail's id of the call, by which its evidence is found. */
  readonly callId: string
  /** What the model reads. Artifacts stand in it by their URI. */
  readonly text: string
  readonly data?: unknown
  readonly media?: readonly SdkMedia[]
  readonly error?: { readonly code: string; readonly reason: string; readonly data?: JsonObject }
  readonly approval?: AskedApproval
}

/** What became of a call, as plain JSON. `say` puts texts into the names that models know. */
export function describeEnd(end: CallEnd, say: (text: string) => string): SdkResult {
  if (end.waiting !== undefined) {
    const { callId, approval } = end.waiting
    const asked = describeApproval(approval)
    const until = new Date(asked.expiresAt).toISOString()
    return {
      ok: false,
      outcome: 'waiting',
      callId,
      text: say(
        `POLICY.APPROVAL_PENDING (waiting): "${approval.request.tool}" waits for a person's yes as ${asked.id} until ${until}. It did nothing yet. Once they answered, make the same call again.`,
      ),
      error: { code: 'POLICY.APPROVAL_PENDING', reason: 'waiting' },
      approval: asked,
    }
  }
  const { result } = end
  const { ok, outcome, callId, data, error } = result
  const described: Made<SdkResult> = { ok, outcome, callId, text: say(resultText(result)) }
  if (data !== undefined) described.data = data
  const media = listMedia(result)
  if (media.length > 0) described.media = media
  if (error !== undefined)
    described.error = {
      code: error.code,
      reason: error.reason,
      ...(error.data && { data: { ...error.data } }),
    }
  return described
}

/** While it is made. */
type Made<Described> = { -readonly [field in keyof Described]: Described[field] }

function listMedia(result: ToolResult): readonly SdkMedia[] {
  const about = mediaOf(result)
  return result.content.flatMap((block) => toMedia(block, about(block)))
}

function toMedia(block: ContentBlock, summary: MediaSummary | undefined): SdkMedia | [] {
  if (block.type === 'image' || block.type === 'audio')
    return { ...summary, kind: block.type, data: block.data, mimeType: block.mimeType }
  if (block.type !== 'resource' || block.blob === undefined) return []
  const { blob, mimeType = 'application/octet-stream', name } = block
  return { ...summary, kind: 'file', data: blob, mimeType, ...(name !== undefined && { name }) }
}

/** A pending approval in the fields that a dialog shows. */
export function describeApproval({
  id,
  digest,
  expiresAt,
  request,
}: {
  id: string
  digest: string
  expiresAt: number
  request: { preview: { title: string } }
}): AskedApproval {
  return { id, digest, title: request.preview.title, expiresAt }
}
