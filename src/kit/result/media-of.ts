import type { ContentBlock, MediaSummary, ToolResult } from '../../contract/base/result.ts'

/** A block with bytes of its own. */
export type InlineMedia =
  | Extract<ContentBlock, { data: string }>
  | (Extract<ContentBlock, { type: 'resource' }> & { blob: string })

/** Whether a block has bytes of its own: an image, a sound, a resource other than text. */
export function isInlineMedia(block: ContentBlock): block is InlineMedia {
  if (block.type === 'image' || block.type === 'audio') return true
  return block.type === 'resource' && block.blob !== undefined
}

/** Finds what the result says of each of its media. */
export function mediaOf({
  content,
  metadata,
}: Pick<ToolResult, 'content'> & { readonly metadata?: Pick<ToolResult['metadata'], 'media'> }): (
  block: ContentBlock,
) => MediaSummary | undefined {
  const media = metadata?.media
  // Most results have none.
  if (media === undefined || media.length === 0) return noMedia
  const inline = new Map(content.filter(isInlineMedia).map((block, index) => [block, media[index]] as const))
  return (block) => {
    if (isInlineMedia(block)) return inline.get(block)
    if (block.type !== 'artifact_ref') return undefined
    return media.find(({ digest }) => digest === block.artifact.digest)
  }
}

function noMedia(): undefined {}

/** A summary in words: `image/png, 300×200 pixels, 1234 bytes, sha256:…`. */
export function sayMedia({ mimeType, width, height, bytes, digest, note }: MediaSummary): string {
  const pixels = width === undefined || height === undefined ? [] : [`${width}×${height} pixels`]
  const more = note === undefined ? [] : [note]
  return [mimeType, ...pixels, `${bytes} bytes`, digest, ...more].join(', ')
}
