import type { Json, JsonObject } from '../../contract/json.ts'
import type { ContentBlock, ToolOutput } from '../../contract/result.ts'
import { isPlainObject } from '../../kit/is-plain-object.ts'
import { jsonSize } from '../../kit/json-size.ts'
import { markUntrusted } from '../../kit/mark-untrusted.ts'
import { toolOutput } from '../../kit/tool-output.ts'
import { withoutOwnMeta } from '../foreign-meta.ts'
import { maxStructuredBytes, structuredBytesKey } from '../structured-bytes.ts'

/** Whose result it is. */
export interface ResultOf {
  /** As the operator calls the server. */
  readonly server: string
  /** Canonical name of the tool, or of the server. */
  readonly source: string
  /** Whether it is a program in the sandbox. */
  readonly isProgram?: boolean
}

/**
 * The answer to a `tools/call` as what a tool returns. Nothing of it is lost; every text of it stands between marks that say that it
 * is data. Data that is too large to be handed on as structured content is shown as text too, so that the whole of it is kept.
 */
export function toOutput(result: Record<string, unknown>, about: ResultOf): ToolOutput {
  // Whoever reads messages reads JSON.
  const { content, structuredContent: data, isError, _meta } = withoutOwnMeta(result as JsonObject)
  const blocks = Array.isArray(content) ? content.map((block: unknown) => toBlock(block, about)) : []
  const failed = isError === true
  const bytes = data === undefined ? 0 : jsonSize(data)
  const isLarge = bytes > maxStructuredBytes
  const isShown = data === undefined || (blocks.length > 0 && !(isLarge && !showsData(content, data)))
  const metadata = {
    ...(isPlainObject(_meta) && { _meta }),
    ...(isLarge && { [structuredBytesKey]: bytes }),
  }
  return toolOutput({
    content: isShown ? blocks : [...blocks, text(JSON.stringify(data), about)],
    ...(data !== undefined && { data }),
    ...(Object.keys(metadata).length > 0 && { metadata }),
    ...(failed && {
      error: {
        reason: 'upstream_error',
        message: `"${about.source}" failed, says the MCP server "${about.server}". What it says of that stands in the result.${adviseOn(blocks, about)}`,
      },
    }),
  })
}

/** What systems say where a file is not there, or may not be written. */
const fileFault =
  /\b(?:ENOENT|EROFS|EACCES|EPERM)\b|No such file or directory|Read-only file system|Permission denied/

/** A program does not know that it sees less than its machine has. */
function adviseOn(blocks: readonly ContentBlock[], { isProgram }: ResultOf): string {
  const hasFileFault = blocks.some((block) => block.type === 'text' && fileFault.test(block.text))
  if (isProgram !== true || !hasFileFault) return ''
  return ' Its program sees only the folders that mcp.json names for it, and writes only to those under "write": where it needs another one, the operator adds it there.'
}

/** Whether a text of it is this data, as servers are asked to say it. */
function showsData(content: Json | undefined, data: Json): boolean {
  const forms: readonly unknown[] = [JSON.stringify(data), JSON.stringify(data, null, 2)]
  return (
    Array.isArray(content) && content.some((block) => isPlainObject(block) && forms.includes(block['text']))
  )
}

/** One block of MCP. What this version does not know of it is kept beside it, or it is kept as it came. */
export function toBlock(raw: unknown, about: ResultOf): ContentBlock {
  if (!isPlainObject(raw)) return text(JSON.stringify(raw), about)
  // Whoever reads messages reads JSON.
  const block = raw as JsonObject
  const known = toKnown(block, about)
  return known ?? { type: 'other', block: withoutOwnMeta(block) }
}

function toKnown({ type, ...block }: JsonObject, about: ResultOf): ContentBlock | undefined {
  switch (type) {
    case 'text': {
      const { text: said, ...more } = block
      return typeof said === 'string' ? { ...text(said, about), ...asideOf(more) } : undefined
    }
    case 'image':
    case 'audio': {
      const { data, mimeType, ...more } = block
      if (typeof data !== 'string' || typeof mimeType !== 'string') return undefined
      return { type, data, mimeType, ...asideOf(more) }
    }
    case 'resource_link': {
      const { uri, name, mimeType, ...more } = block
      if (typeof uri !== 'string' || typeof name !== 'string') return undefined
      return { type: 'resource', uri, name, ...typeOf(mimeType), server: about.server, ...asideOf(more) }
    }
    case 'resource':
      return toEmbedded(block, about)
    default:
      return undefined
  }
}

function toEmbedded({ resource, ...more }: JsonObject, about: ResultOf): ContentBlock | undefined {
  if (!isPlainObject(resource)) return undefined
  const { uri, mimeType, text: said, blob, ...rest } = resource as JsonObject
  if (typeof uri !== 'string') return undefined
  const inner: JsonObject = Object.keys(rest).length > 0 ? { resource: withoutOwnMeta(rest) } : {}
  const known = { type: 'resource', uri, ...typeOf(mimeType), ...asideOf({ ...more, ...inner }) } as const
  if (typeof said === 'string') return { ...known, text: mark(said, about) }
  return typeof blob === 'string' ? { ...known, blob } : undefined
}

function text(said: string, about: ResultOf): ContentBlock & { type: 'text' } {
  return { type: 'text', text: mark(said, about) }
}

function mark(said: string, { server, source }: ResultOf): string {
  return markUntrusted(said, source, `the MCP server ${JSON.stringify(server)}`)
}

function typeOf(mimeType: Json | undefined): { mimeType?: string } {
  return typeof mimeType === 'string' ? { mimeType } : {}
}

function asideOf(more: JsonObject): { aside?: JsonObject } {
  return Object.keys(more).length > 0 ? { aside: withoutOwnMeta(more) } : {}
}
