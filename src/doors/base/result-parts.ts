import type { ContentBlock, MediaSummary, ToolResult } from '../../contract/base/result.ts'
import { namesTools } from '../../kit/names/names-tools.ts'
import { renameTools } from '../../kit/names/rename-tools.ts'
import { mediaOf } from '../../kit/result/media-of.ts'
import { resultText } from '../../kit/result/to-wire-result.ts'

/** One piece of a result for a model. */
export type Part =
  | { readonly type: 'text'; readonly text: string }
  /** Bytes as base64. `text` says what they are, for where they cannot go. */
  | {
      readonly type: 'media'
      readonly mimeType: string
      readonly data: string
      readonly name: string
      readonly text: string
    }

/** What goes back to a model for one call. */
export interface Answer {
  readonly parts: readonly Part[]
  readonly isError: boolean
}

/** How results are said. */
export interface AnswerOptions {
  /** The wire name of a canonical name. */
  readonly wireNameOf: (canonical: string) => string | undefined
  /** The answer ended before the call did. */
  readonly cut: boolean
}

const cutNote =
  'The answer ended before this call was complete, so the call did not run. Make it again; if its input is long, in smaller parts.'

/** A result in pieces. An error, and what a search found, names tools as the model calls them, but for advice to the operator; what other tools returned stays as it is. */
export function toAnswer(result: ToolResult, { wireNameOf, cut }: AnswerOptions): Answer {
  const { content, data, error, ok, callId, artifacts } = result
  const about = mediaOf(result)
  const parts = content.map((block) => toPart(block, { callId, media: about(block) }))
  const shown = new Set(content.map((block) => block.type === 'artifact_ref' && block.artifact.digest))
  for (const artifact of artifacts)
    if (!shown.has(artifact.digest)) parts.push(toPart({ type: 'artifact_ref', artifact }, { callId }))
  const [first, ...rest] = parts
  if (first === undefined)
    parts.push({ type: 'text', text: data === undefined ? result.summary : JSON.stringify(data) })
  if (ok || error === undefined) {
    const told = namesTools(result) ? parts.map((part) => inWireNames(part, wireNameOf)) : parts
    return { parts: withoutBlank(told), isError: !ok }
  }
  const says = first?.type === 'text' && first.text.startsWith(error.code)
  const text = says ? first.text : `${error.code} (${error.reason}): ${error.message}`
  const advice = error.data?.['advice']
  const kept = typeof advice === 'string' ? advice : ''
  const pieces = kept === '' ? [text] : text.split(kept)
  const named = pieces.map((piece) => renameTools(piece, wireNameOf)).join(kept)
  const told = cut ? `${cutNote}\n${named}` : named
  return {
    parts: withoutBlank([
      { type: 'text', text: told },
      ...(says ? rest : parts.slice(first === undefined ? 1 : 0)),
    ]),
    isError: true,
  }
}

function inWireNames(part: Part, wireNameOf: AnswerOptions['wireNameOf']): Part {
  return part.type === 'text' ? { type: 'text', text: renameTools(part.text, wireNameOf) } : part
}

function toPart(
  block: ContentBlock,
  { callId, media }: { callId: string; media?: MediaSummary | undefined },
): Part {
  const text = resultText({
    content: [block],
    callId,
    metadata: media === undefined ? {} : { media: [media] },
  })
  if (block.type === 'image' || block.type === 'audio')
    return { type: 'media', mimeType: block.mimeType, data: block.data, name: block.type, text }
  if (block.type === 'resource' && block.text === undefined && block.blob !== undefined)
    return {
      type: 'media',
      mimeType: block.mimeType ?? 'application/octet-stream',
      data: block.blob,
      name: block.name ?? 'file',
      text,
    }
  return { type: 'text', text }
}

/** APIs refuse texts of nothing but spaces, and results without any content. */
function withoutBlank(parts: readonly Part[]): readonly Part[] {
  const full = parts.filter((part) => part.type === 'media' || part.text.trim() !== '')
  return full.length === 0 ? [{ type: 'text', text: '(no output)' }] : full
}

/** The text of pieces, with what the others are. */
export function textOfParts(parts: readonly Part[]): string {
  return parts.map(({ text }) => text).join('\n')
}
