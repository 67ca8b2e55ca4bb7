import type { ContentBlock as McpBlock } from '@modelcontextprotocol/server'
import type { Artifact, ContentBlock } from '../contract/result.ts'
import { isPlainObject } from '../kit/is-plain-object.ts'
import { markUntrusted } from '../kit/mark-untrusted.ts'

/** One piece of a result as MCP says it. */
export function toMcpContent(block: ContentBlock): McpBlock {
  switch (block.type) {
    case 'text':
      return { ...block.aside, type: 'text', text: block.text }
    case 'json':
      return { type: 'text', text: JSON.stringify(block.json) }
    case 'image':
    case 'audio':
      return { ...block.aside, type: block.type, data: block.data, mimeType: block.mimeType }
    case 'other':
      // A kind that this revision of the protocol does not know; its clients may.
      return block.block as McpBlock
    case 'resource':
      return toMcpResource(block)
    case 'artifact_ref':
      return { type: 'text', text: describeArtifact(block.artifact, block.note) }
  }
}

/** Key of a block that is shown as text, as it came, in the `_meta` of that text. */
export const blockMetaKey = 'handrail/block'

/** The same for any client. Many refuse a whole result for one block of a kind that they do not know: such a one is shown as text. */
export function toKnownContent(block: ContentBlock): McpBlock {
  if (block.type !== 'other') return toMcpContent(block)
  const text = markUntrusted(JSON.stringify(block.block), 'the tool', 'a server elsewhere')
  return { type: 'text', text, _meta: { [blockMetaKey]: block.block } }
}

function toMcpResource({
  uri,
  mimeType,
  text,
  blob,
  name,
  aside,
}: ContentBlock & { type: 'resource' }): McpBlock {
  const { resource, ...around } = aside ?? {}
  const typed = { uri, ...(mimeType !== undefined && { mimeType }) }
  const inner = isPlainObject(resource) ? resource : {}
  if (text !== undefined) return { ...around, type: 'resource', resource: { ...inner, ...typed, text } }
  if (blob !== undefined) return { ...around, type: 'resource', resource: { ...inner, ...typed, blob } }
  return { ...around, type: 'resource_link', name: name ?? uri, ...typed }
}

/** In words: clients cannot read an artifact by a link, models can name its digest. */
function describeArtifact(artifact: Artifact, note: string | undefined): string {
  const name = artifact.name === undefined ? '' : ` "${artifact.name}"`
  const about = `[artifact${name} ${artifact.digest}, ${artifact.bytes} bytes, ${artifact.mimeType}]`
  return note === undefined ? about : `${about} ${note}`
}
