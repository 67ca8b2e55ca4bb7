import type { Json, JsonObject } from '../../contract/base/json.ts'
import type { Artifact, ContentBlock, ToolOutput } from '../../contract/base/result.ts'
import { canonicalJson } from '../../kit/json/canonical-json.ts'
import { readUntrusted, replaceUntrusted } from '../../kit/text/mark-untrusted.ts'
import { redactedMark } from './hide.ts'

/** What became of the structured data that blocks may show: undefined if it is withheld. */
export interface ShownData {
  readonly before: Json | undefined
  readonly after: Json | undefined
}

type HideText = (text: string) => string

/** Every block with its texts treated. A block that shows the data shows what became of it, and goes where that is withheld. */
export function treatContent(
  content: readonly ContentBlock[],
  { before, after }: ShownData,
  hide: HideText,
): ContentBlock[] {
  const canonical = before === undefined || before === after ? undefined : canonicalJson(before)
  return content.flatMap((block) => {
    const shows =
      (block.type === 'json' && block.json === before) ||
      (canonical !== undefined && showsData(block, { before, canonical }))
    if (!shows) return [treatBlock(block, hide)]
    return after === undefined ? [] : [showAgain(block, after)]
  })
}

function showsData(block: ContentBlock, data: { before: Json | undefined; canonical: string }): boolean {
  if (block.type === 'json') return canonicalJson(block.json) === data.canonical
  if (block.type !== 'text') return false
  const text = readUntrusted(block.text) ?? block.text
  if (text === data.before) return true
  if (!/^\s*[[{]/.test(text)) return false
  try {
    return canonicalJson(JSON.parse(text)) === data.canonical
  } catch {
    // No JSON text, so it is treated as any other text.
    return false
  }
}

function showAgain(block: ContentBlock, data: Json): ContentBlock {
  if (block.type !== 'text') return { type: 'json', json: data }
  return {
    type: 'text',
    text: replaceUntrusted(block.text, sayAgain(readUntrusted(block.text) ?? block.text, data)),
  }
}

function sayAgain(before: string, data: Json): string {
  if (typeof data === 'string') return data
  return data === null ? redactedMark : JSON.stringify(data, null, before.includes('\n') ? 2 : undefined)
}

/** The bytes of an image or a sound are no text: what they show is not looked at. */
function treatBlock(block: ContentBlock, hide: HideText): ContentBlock {
  switch (block.type) {
    case 'text':
      return { ...withAside(block, hide), text: hide(block.text) }
    case 'json':
      return { ...block, json: treatJson(block.json, hide) }
    case 'image':
    case 'audio':
      return withAside(block, hide)
    case 'other':
      return { ...block, block: treatJson(block.block, hide) }
    case 'resource':
      return {
        ...withAside(block, hide),
        uri: hide(block.uri),
        ...(block.name !== undefined && { name: hide(block.name) }),
        ...(block.text !== undefined && { text: hide(block.text) }),
      }
    case 'artifact_ref':
      return {
        ...block,
        artifact: treatArtifact(block.artifact, hide),
        ...(block.note !== undefined && { note: hide(block.note) }),
      }
  }
}

function withAside<Block extends { aside?: JsonObject }>(block: Block, hide: HideText): Block {
  return block.aside === undefined ? block : { ...block, aside: treatJson(block.aside, hide) }
}

function treatArtifact(artifact: Artifact, hide: HideText): Artifact {
  const treated: Artifact = { ...artifact, mimeType: hide(artifact.mimeType) }
  if (artifact.name !== undefined) treated.name = hide(artifact.name)
  return treated
}

/** What goes back beside content and data, treated. */
export function treatRest({ summary, artifacts, error, metadata }: ToolOutput, hide: HideText) {
  return {
    ...(summary !== undefined && { summary: hide(summary) }),
    ...(artifacts !== undefined && { artifacts: artifacts.map((each) => treatArtifact(each, hide)) }),
    ...(error !== undefined && { error: treatError(error, hide) }),
    ...(metadata !== undefined && { metadata: treatJson(metadata, hide) }),
  }
}

function treatError(error: NonNullable<ToolOutput['error']>, hide: HideText): ToolOutput['error'] {
  const { reason, message, issues, data } = error
  return {
    ...error,
    reason: hide(reason),
    message: hide(message),
    ...(issues !== undefined && { issues: treatJson(issues, hide) }),
    ...(data !== undefined && { data: treatJson(data, hide) }),
  }
}

/** The same with every text in it treated. A number that is hidden as a text is hidden as a number too. */
function treatJson<T>(value: T, hide: HideText): T {
  // Strings stay strings, and objects and arrays keep their form; only a hidden number changes its type.
  return treatValue(value, hide) as T
}

function treatValue(value: unknown, hide: HideText): unknown {
  if (typeof value === 'string') return hide(value)
  if (typeof value === 'number') return hide(String(value)) === String(value) ? value : null
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((item) => treatValue(item, hide))
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [hide(key), treatValue(item, hide)]))
}
