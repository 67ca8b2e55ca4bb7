import type { ContentBlock as McpBlock } from '@modelcontextprotocol/server'
import type { Artifact, ContentBlock } from '../contract/result.ts'

/** One piece of a result as MCP says it. */
export function toMcpContent(block: ContentBlock): McpBlock {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: block.text }
    case 'json':
      return { type: 'text', text: JSON.stringify(block.json) }
    case 'image':
      return { type: 'image', data: block.data, mimeType: block.mimeType }
    case 'resource':
      return toMcpResource(block)
    case 'artifact_ref':
      return { type: 'text', text: describeArtifact(block.artifact, block.note) }
  }
}

function toMcpResource(block: ContentBlock & { type: 'resource' }): McpBlock {
  const mimeType = block.mimeType !== undefined && { mimeType: block.mimeType }
  if (block.text !== undefined)
    return { type: 'resource', resource: { uri: block.uri, text: block.text, ...mimeType } }
  return { type: 'resource_link', uri: block.uri, name: block.name ?? block.uri, ...mimeType }
}

/** In words: clients cannot read an artifact by a link, models can name its digest. */
function describeArtifact(artifact: Artifact, note: string | undefined): string {
  const name = artifact.name === undefined ? '' : ` "${artifact.name}"`
  const about = `[artifact${name} ${artifact.digest}, ${artifact.bytes} bytes, ${artifact.mimeType}]`
  return note === undefined ? about : `${about} ${note}`
}
