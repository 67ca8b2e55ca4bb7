import { isPlainObject } from '../../kit/json/is-plain-object.ts'
import type { SdkMedia, SdkResult } from './describe-end.ts'

/** What a model sees of a result: `ToolResultOutput` of the AI SDK. */
export type AiModelOutput =
  | { type: 'text' | 'error-text'; value: string }
  | { type: 'content'; value: AiContentPart[] }

/** A part of a result with media. */
export type AiContentPart =
  | { type: 'text'; text: string }
  | { type: 'file'; mediaType: string; data: { type: 'data'; data: string }; filename?: string }

/**
 * What a model sees of the output of a tool, which may come back with the messages of a client: what is not one of a door's is shown as it is.
 */
export function toModelOutput(output: unknown): AiModelOutput {
  if (!isEnd(output)) return { type: 'text', value: JSON.stringify(output) ?? '' }
  const { ok, text, media = [] } = output
  if (!ok) return { type: 'error-text', value: text }
  if (media.length === 0) return { type: 'text', value: text }
  return { type: 'content', value: [{ type: 'text', text }, ...media.map(toPart)] }
}

function toPart({ data, mimeType, name }: SdkMedia): AiContentPart {
  return {
    type: 'file',
    mediaType: mimeType,
    data: { type: 'data', data },
    ...(name !== undefined && { filename: name }),
  }
}

function isEnd(output: unknown): output is SdkResult {
  if (!isPlainObject(output) || typeof output['text'] !== 'string') return false
  const { media = [] } = output
  return Array.isArray(media) && media.every(isMedia)
}

function isMedia(part: unknown): boolean {
  return isPlainObject(part) && typeof part['data'] === 'string' && typeof part['mimeType'] === 'string'
}
