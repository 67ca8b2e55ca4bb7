import type { Json, JsonObject } from '../../../contract/base/json.ts'
import type { ContentBlock, ToolOutput } from '../../../contract/base/result.ts'
import { isBase64 } from '../../../kit/secrets/is-base64.ts'
import { isJsonObject } from '../../../kit/json/is-json-object.ts'
import { isPlainObject } from '../../../kit/json/is-plain-object.ts'
import { jsonSize } from '../../../kit/json/json-size.ts'
import { markUntrusted } from '../../../kit/text/mark-untrusted.ts'
import { maxDataBytes } from '../../../kit/json/max-data-bytes.ts'
import { toolOutput } from '../../../kit/result/tool-output.ts'
import { withoutOwnMeta } from '../../translate/foreign-meta.ts'

/** Whose result it is. */
export interface ResultOf {
  /** As the operator calls the server. */
  readonly server: string
  /** Canonical name of the tool, or of the server. */
  readonly source: string
  /** What may be behind a fault that it tells. Default: nothing is said of that. */
  readonly advise?: (texts: readonly string[]) => string
}

/** Larger data may leave the result for an artifact, where nothing but its marks says that it is of strangers; what is redacted may grow. */
const largeBytes = maxDataBytes / 2

/**
 * The answer to a `tools/call` as what a tool returns. Nothing of it is lost; every text of it stands between marks that say that it
 * is data. Large data is shown as text too, so that the whole of it is kept between marks.
 */
export function toOutput(result: JsonObject, about: ResultOf): ToolOutput {
  const { content, structuredContent: data, isError, _meta } = withoutOwnMeta(result)
  const blocks = Array.isArray(content) ? content.map((block: unknown) => toBlock(block, about)) : []
  // One that says it in another form than the protocol has it has not said that all went well.
  const failed = isError !== undefined && isError !== null && isError !== false
  const isLarge = data !== undefined && jsonSize(data) > largeBytes
  const isShown = data === undefined || (blocks.length > 0 && !(isLarge && !showsData(content, data)))
  return toolOutput({
    content: isShown ? blocks : [...blocks, text(JSON.stringify(data), about)],
    ...(data !== undefined && { data }),
    ...(isPlainObject(_meta) && { metadata: { _meta } }),
    ...(failed && {
      error: {
        reason: 'upstream_error',
        message: `"${about.source}" failed, says the MCP server "${about.server}". What it says of that stands in the result.${about.advise?.(textsOf(blocks)) ?? ''}`,
      },
    }),
  })
}

function textsOf(blocks: readonly ContentBlock[]): string[] {
  return blocks.flatMap((block) => (block.type === 'text' ? [block.text] : []))
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
  if (!isJsonObject(raw)) return text(JSON.stringify(raw), about)
  return toKnown(raw, about) ?? { type: 'other', block: withoutOwnMeta(raw) }
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
      if (!isBase64(data) || typeof mimeType !== 'string' || mimeType === '') return undefined
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
  const { uri, mimeType, text: said, blob, ...rest } = resource
  if (typeof uri !== 'string') return undefined
  const inner: JsonObject = Object.keys(rest).length > 0 ? { resource: withoutOwnMeta(rest) } : {}
  const known = { type: 'resource', uri, ...typeOf(mimeType), ...asideOf({ ...more, ...inner }) } as const
  if (typeof said === 'string') return { ...known, text: mark(said, about) }
  return isBase64(blob) ? { ...known, blob } : undefined
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
