import { isSpecType, type ContentBlock as McpBlock } from '@modelcontextprotocol/server'
import type { Artifact, ContentBlock } from '../../contract/base/result.ts'
import { toArtifactUri } from '../../kit/result/artifact-uri.ts'
import { isPlainObject } from '../../kit/json/is-plain-object.ts'
import { markUntrusted } from '../../kit/text/mark-untrusted.ts'
import { toServerUri } from './server-uri.ts'

/** What a client can read beside results, so that results may link to it. */
export interface Readable {
  /** Artifacts of this call, by its id; undefined if it can read none. */
  readonly artifactsOf?: string
  /** Resources of the servers behind tools. */
  readonly servers?: boolean
}

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
      return { type: 'text', text: describeArtifact(block.artifact, block.artifact.digest, block.note) }
  }
}

/** Key of a block that does not go out as it came, in the `_meta` of the text that does. */
const blockMetaKey = 'handrail/block'
/** Key of what a server's resource is called there, in the `_meta` of what stands for it. */
export const resourceMetaKey = 'handrail/resource'

/**
 * The same for any client, with links to what it can read. Many refuse a whole result for one block of a kind that they do not know: such
 * a one is shown as text.
 */
export function toKnownContent(block: ContentBlock, { artifactsOf, servers }: Readable = {}): McpBlock[] {
  if (block.type === 'artifact_ref' && artifactsOf !== undefined) {
    const { artifact, note } = block
    const uri = toArtifactUri({ call: artifactsOf, digest: artifact.digest })
    return [{ type: 'text', text: describeArtifact(artifact, uri, note) }, toArtifactLink(artifact, uri)]
  }
  if (block.type === 'resource' && servers === true) return [toFitting(toServerLink(block))]
  return [toFitting(toMcpContent(block))]
}

/**
 * The block itself where it is as the protocol has it. A client, and our own end of the wire, would refuse a whole result for one that is not,
 * although its call was done: such a one is shown as text.
 */
export function toFitting(block: McpBlock): McpBlock {
  const isPlain = block.type === 'text' && Object.keys(block).length === 2
  const given: unknown = block
  if (isPlain || isSpecType.ContentBlock(given)) return block
  const { type, text: said }: Record<string, unknown> = Object(given)
  const text =
    type === 'text' && typeof said === 'string'
      ? said
      : markUntrusted(JSON.stringify(given), 'the tool', 'a server elsewhere')
  return { type: 'text', text, _meta: { [blockMetaKey]: given } }
}

/** A link by which a client reads an artifact. */
export function toArtifactLink({ bytes, mimeType, name }: Artifact, uri: string): McpBlock {
  return { type: 'resource_link', uri, name: name ?? 'artifact', mimeType, size: bytes }
}

type Resource = ContentBlock & { type: 'resource' }

function toMcpResource({ uri, mimeType, text, blob, name, aside }: Resource): McpBlock {
  const { resource, ...around } = aside ?? {}
  const typed = { uri, ...(mimeType !== undefined && { mimeType }) }
  const inner = isPlainObject(resource) ? resource : {}
  if (text !== undefined) return { ...around, type: 'resource', resource: { ...inner, ...typed, text } }
  if (blob !== undefined) return { ...around, type: 'resource', resource: { ...inner, ...typed, blob } }
  return { ...around, type: 'resource_link', name: name ?? uri, ...typed }
}

/** A link of a server leads to that server, wherever it is read; what it says is kept beside it. The web is there for everybody. */
function toServerLink(block: Resource): McpBlock {
  const shown = toMcpResource(block)
  const { server, uri } = block
  if (shown.type !== 'resource_link' || server === undefined || /^https?:/i.test(uri)) return shown
  const _meta = { ...shown._meta, [resourceMetaKey]: { server, uri } }
  return { ...shown, uri: toServerUri({ server, uri }), _meta }
}

/** In words, for models whose clients show them no links. */
function describeArtifact(artifact: Artifact, known: string, note: string | undefined): string {
  const name = artifact.name === undefined ? '' : ` "${artifact.name}"`
  const about = `[artifact${name} ${known}, ${artifact.bytes} bytes, ${artifact.mimeType}]`
  return note === undefined ? about : `${about} ${note}`
}
