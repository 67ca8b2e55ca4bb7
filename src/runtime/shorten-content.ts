import type { Artifact, ContentBlock, ResultMetadata, ToolOutput } from '../contract/result.ts'
import type { ArtifactStore } from '../contract/store.ts'
import { shortenText } from './shorten-text.ts'

/** Each long text and JSON block goes to an artifact as a whole; its head and tail stay. */
export async function shortenContent(
  output: ToolOutput,
  { inlineBytes, artifacts }: { inlineBytes: number; artifacts: ArtifactStore },
): Promise<{ output: ToolOutput; metadata: Pick<ResultMetadata, 'truncated'> }> {
  const kept: Artifact[] = [...(output.artifacts ?? [])]
  const content: ContentBlock[] = []
  const metadata: Pick<ResultMetadata, 'truncated'> = {}
  for (const block of output.content) {
    const text = block.type === 'text' ? block.text : block.type === 'json' ? JSON.stringify(block.json) : ''
    const bytes = Buffer.from(text)
    if (bytes.length <= inlineBytes) {
      content.push(block)
      continue
    }
    const mimeType = block.type === 'json' ? 'application/json' : 'text/plain'
    const artifact = await artifacts.put(bytes, { mimeType })
    const short = shortenText(text, inlineBytes)
    kept.push(artifact)
    content.push(
      { type: 'text', text: short.text },
      { type: 'artifact_ref', artifact, note: 'the whole output' },
    )
    metadata.truncated = { bytes: bytes.length, shownBytes: short.shownBytes }
  }
  return { output: { ...output, content, artifacts: kept }, metadata }
}
