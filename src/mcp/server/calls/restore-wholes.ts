import type { Json } from '../../../contract/base/json.ts'
import type { Artifact, ContentBlock, ToolResult } from '../../../contract/base/result.ts'
import { readUntrusted } from '../../../kit/text/mark-untrusted.ts'
import { wholeOf } from '../../../kit/whole-output.ts'

type Read = (artifact: Artifact) => Promise<Uint8Array | undefined>

/** A result whose resources are whole again, for a client that asked to read them and no model. */
export async function restoreResources(result: ToolResult, read: Read): Promise<ToolResult> {
  const content: ContentBlock[] = []
  for (const [index, block] of result.content.entries()) {
    const whole = block.type === 'resource' ? wholeOf(result.content[index + 1]) : undefined
    const bytes = whole && (await read(whole))
    if (block.type !== 'resource' || bytes === undefined) content.push(block)
    else if (block.text === undefined) content.push({ ...block, blob: Buffer.from(bytes).toString('base64') })
    else content.push({ ...block, text: Buffer.from(bytes).toString() })
  }
  return { ...result, content }
}

/** A result with the data that was too large for it, for a client that knows that it speaks with the server itself. */
export async function restoreData(result: ToolResult, read: Read): Promise<ToolResult> {
  const { dataArtifact } = result.metadata
  const bytes = dataArtifact && (await read(dataArtifact))
  if (bytes === undefined) return result
  const text = Buffer.from(bytes).toString()
  // It was made of data, or of a text that says it.
  return { ...result, data: JSON.parse(readUntrusted(text) ?? text) as Json }
}
