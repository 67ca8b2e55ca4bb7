import type { ContentBlock, ToolOutput } from '../../contract/base/result.ts'
import type { Json } from '../../contract/base/json.ts'
import { isPlainObject } from '../../kit/json/is-plain-object.ts'
import { isIssue, toJson } from '../../kit/json/to-json.ts'
import { toolOutput } from '../../kit/result/tool-output.ts'

/**
 * What a tool says that models see of its result, in the form of the AI SDK (`ToolResultOutput`), as a full result. The result itself is
 * its data. What has another form is the content as JSON.
 */
export function readModelOutput(shown: unknown, result: unknown): ToolOutput {
  const data = toData(result)
  const { type, value, reason }: { type?: unknown; value?: unknown; reason?: unknown } = isPlainObject(shown)
    ? shown
    : {}
  switch (type) {
    case 'text':
      return toolOutput({ content: String(value), ...data })
    case 'content':
      return toolOutput({ content: Array.isArray(value) ? value.map(toBlock) : [], ...data })
    case 'error-text':
    case 'error-json':
      return toolOutput({ error: { reason: 'tool_error', message: toText(value) } })
    case 'execution-denied':
      return toolOutput({
        error: { reason: 'execution_denied', message: toText(reason ?? 'The tool refused this call.') },
      })
    default:
      return toolOutput({ content: [toJsonBlock(type === 'json' ? value : shown)], ...data })
  }
}

/** A result that JSON cannot carry has no data: models see what the tool says. */
function toData(result: unknown): { data?: Json } {
  if (result === undefined) return {}
  const copied = toJson(result)
  return isIssue(copied) ? {} : { data: copied.json }
}

function toText(value: unknown): string {
  if (typeof value === 'string') return value
  const copied = toJson(value)
  if (isIssue(copied)) return copied.message
  // Bytes are Base64 by now.
  return typeof copied.json === 'string' ? copied.json : JSON.stringify(copied.json)
}

function toJsonBlock(value: unknown): ContentBlock {
  const copied = toJson(value ?? null)
  return isIssue(copied) ? { type: 'text', text: copied.message } : { type: 'json', json: copied.json }
}

interface Part {
  readonly type?: unknown
  readonly text?: unknown
  readonly data?: unknown
  readonly url?: unknown
  readonly mediaType?: unknown
  readonly filename?: unknown
}

function toBlock(given: unknown): ContentBlock {
  const part: Part = isPlainObject(given) ? given : {}
  const { type, data, url, filename } = part
  const mimeType = typeof part.mediaType === 'string' ? part.mediaType : undefined
  if (type === 'text') return { type: 'text', text: toText(part.text) }
  if (type === 'file') return toFile(data, { mimeType, filename })
  if (type === 'media' || type === 'image-data' || type === 'file-data')
    return toMedia(data, { mimeType, filename })
  if (type === 'image-url' || type === 'file-url') return toLink(url, { mimeType, filename })
  return toOther(given)
}

interface AboutFile {
  readonly mimeType: string | undefined
  readonly filename: unknown
}

/** Release 7 tags the data of a file. */
function toFile(given: unknown, about: AboutFile): ContentBlock {
  const { type, data, url, text }: Part = isPlainObject(given) ? given : { type: 'data', data: given }
  if (type === 'url') return toLink(url, about)
  if (type === 'text') return { type: 'text', text: toText(text) }
  return type === 'data' ? toMedia(data, about) : toOther(given)
}

function toMedia(data: unknown, about: AboutFile): ContentBlock {
  const base64 = typeof data === 'string' ? data : toText(data)
  const { mimeType = 'application/octet-stream' } = about
  const [kind] = mimeType.split('/')
  if (kind === 'image' || kind === 'audio') return { type: kind, data: base64, mimeType }
  const name = nameOf(about)
  return { type: 'resource', uri: `file:///${encodeURIComponent(name)}`, name, mimeType, blob: base64 }
}

function toLink(url: unknown, about: AboutFile): ContentBlock {
  const { mimeType } = about
  return {
    type: 'resource',
    uri: url instanceof URL ? url.href : toText(url),
    name: nameOf(about),
    ...(mimeType !== undefined && { mimeType }),
  }
}

function nameOf({ filename }: AboutFile): string {
  return typeof filename === 'string' && filename !== '' ? filename : 'file'
}

/** Such as a file that only one provider knows. */
function toOther(given: unknown): ContentBlock {
  const copied = toJson(given)
  return !isIssue(copied) && isPlainObject(copied.json)
    ? { type: 'other', block: copied.json }
    : { type: 'text', text: toText(given) }
}
