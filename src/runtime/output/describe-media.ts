import type { Artifact, MediaSummary, ToolOutput } from '../../contract/base/result.ts'
import type { ArtifactStore } from '../../contract/store.ts'
import { fileDigest } from '../../kit/json/digest.ts'
import { isInlineMedia, type InlineMedia } from '../../kit/result/media-of.ts'
import { measureImage } from './measure-image.ts'

/** Of one result; further ones are there and not described. */
const maxDescribed = 50
/** A larger image is not read for its dimensions. */
const maxImageBytes = 16 * 1024 * 1024

/** Whether a result has anything that `describeMedia` describes. */
export function hasMedia({ content, artifacts = [] }: ToolOutput): boolean {
  return content.some(isInlineMedia) || artifacts.some(isMedia)
}

/** What every image, sound, film and binary resource of a result is, in the order of the result. Nothing in their bytes makes it fail. */
export async function describeMedia(
  { content, artifacts = [] }: ToolOutput,
  store: Pick<ArtifactStore, 'get'>,
): Promise<MediaSummary[]> {
  const inline = content.filter(isInlineMedia).slice(0, maxDescribed)
  const kept = artifacts.filter(isMedia).slice(0, maxDescribed - inline.length)
  const summaries: MediaSummary[] = []
  for (const media of inline) summaries.push(await describeInline(media))
  for (const artifact of kept) summaries.push(await describeArtifact(artifact, store))
  return summaries
}

function isMedia({ mimeType }: Artifact): boolean {
  return kindOf(mimeType) !== undefined
}

function kindOf(mimeType: string): MediaSummary['kind'] | undefined {
  const kind = /^(image|audio|video)\//i.exec(mimeType)?.[1]?.toLowerCase()
  return kind === 'image' || kind === 'audio' || kind === 'video' ? kind : undefined
}

async function describeInline(block: InlineMedia): Promise<MediaSummary> {
  const { mimeType = 'application/octet-stream' } = block
  const bytes = Buffer.from('blob' in block ? block.blob : block.data, 'base64')
  const kind = block.type === 'resource' ? (kindOf(mimeType) ?? 'file') : block.type
  const about = { kind, mimeType, bytes: bytes.length, digest: fileDigest(bytes) }
  if (kind !== 'image' || bytes.length > maxImageBytes) return about
  return { ...about, ...(await measureImage(bytes, mimeType)) }
}

async function describeArtifact(
  { mimeType, bytes, digest }: Artifact,
  store: Pick<ArtifactStore, 'get'>,
): Promise<MediaSummary> {
  const kind = kindOf(mimeType) ?? 'image'
  const about = { kind, mimeType, bytes, digest }
  if (kind !== 'image') return about
  if (bytes > maxImageBytes) return { ...about, note: 'too large to be looked at' }
  const kept = await store.get(digest)
  if (kept === undefined) return { ...about, note: 'not in the artifacts' }
  return { ...about, ...(await measureImage(kept, mimeType)) }
}
