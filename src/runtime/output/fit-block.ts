import type { JsonObject } from '../../contract/base/json.ts'
import type { Artifact, ContentBlock } from '../../contract/base/result.ts'
import { jsonSize } from '../../kit/json/json-size.ts'
import { markUntrusted, readUntrusted, replaceUntrusted } from '../../kit/text/mark-untrusted.ts'
import { wholeOutput } from '../../kit/whole-output.ts'
import type { Wholes } from './keep-wholes.ts'
import { shortenText } from './shorten-text.ts'

/** A block as it is shown: itself, or parts of it and where the whole is. */
export interface FittedBlock {
  readonly content: readonly ContentBlock[]
  /** Of a block that is not shown as a whole. */
  readonly cut?: { readonly artifact: Artifact; readonly bytes: number; readonly shownBytes: number }
}

/** How much of a block may be shown. */
export interface BlockRoom {
  readonly share: number
  readonly wholes: Wholes
  /** Where the whole of it is already. */
  readonly whole: Artifact | undefined
}

/** About how many bytes a block takes. Images and sounds have limits of their own. */
export function sizeOfBlock(block: ContentBlock): number {
  switch (block.type) {
    case 'text':
      return Buffer.byteLength(block.text) + asideSize(block)
    case 'image':
    case 'audio':
      return asideSize(block)
    case 'json':
    case 'resource':
    case 'artifact_ref':
    case 'other':
      return jsonSize(block)
  }
}

function asideSize({ aside }: { aside?: JsonObject }): number {
  return aside === undefined ? 0 : jsonSize(aside)
}

/** A block within its share. */
export async function fitBlock(block: ContentBlock, room: BlockRoom): Promise<FittedBlock> {
  if (sizeOfBlock(block) <= room.share) return { content: [block] }
  switch (block.type) {
    case 'text':
      return fitText(await fitAside(block, room), room)
    case 'json':
      return fitJson(JSON.stringify(block.json), room)
    case 'image':
    case 'audio':
      return { content: [await fitAside(block, room)] }
    case 'resource':
      return fitResource(await fitAside(block, room), room)
    case 'artifact_ref':
      return { content: [{ type: 'artifact_ref', artifact: block.artifact }] }
    case 'other': {
      const fitted = await fitJson(JSON.stringify(block.block), room)
      const [shown, ...rest] = fitted.content
      const text = shown?.type === 'text' ? shown.text : ''
      return {
        ...fitted,
        content: [{ type: 'text', text: markUntrusted(text, 'the tool', 'a server elsewhere') }, ...rest],
      }
    }
  }
}

/** What is said beside a block is for clients that know it: it is whole, or elsewhere. */
async function fitAside<Block extends { aside?: JsonObject }>(
  block: Block,
  { share, wholes }: BlockRoom,
): Promise<Block> {
  if (asideSize(block) <= share / 2) return block
  const { aside, ...rest } = block
  await wholes.put(JSON.stringify(aside), 'application/json')
  // Of the same type: what is left out may be absent.
  return rest as Block
}

type Text = Extract<ContentBlock, { type: 'text' }>
type Resource = Extract<ContentBlock, { type: 'resource' }>

async function fitText(block: Text, room: BlockRoom): Promise<FittedBlock> {
  const { text, ...fitted } = await shorten(block.text, 'text/plain', room)
  return { ...fitted, content: [{ ...block, text }, ...fitted.content] }
}

async function fitJson(json: string, room: BlockRoom): Promise<FittedBlock> {
  const { text, ...fitted } = await shorten(json, 'application/json', room)
  return { ...fitted, content: [{ type: 'text', text }, ...fitted.content] }
}

async function fitResource({ text: said, blob, ...rest }: Resource, room: BlockRoom): Promise<FittedBlock> {
  const { wholes } = room
  if (said !== undefined) {
    const { text, ...fitted } = await shorten(said, rest.mimeType ?? 'text/plain', room)
    return { ...fitted, content: [{ ...rest, text }, ...fitted.content] }
  }
  if (blob === undefined) return fitJson(JSON.stringify(rest), room)
  const bytes = Buffer.from(blob, 'base64')
  const artifact = await wholes.put(bytes, rest.mimeType ?? 'application/octet-stream')
  return {
    content: [rest, { type: 'artifact_ref', artifact, note: wholeOutput }],
    cut: { artifact, bytes: bytes.length, shownBytes: 0 },
  }
}

/** Head and tail of a text, between its marks if a stranger wrote it; then what leads to the whole. */
async function shorten(
  text: string,
  mimeType: string,
  { share, wholes, whole }: BlockRoom,
): Promise<FittedBlock & { text: string }> {
  const own = readUntrusted(text)
  const marks = own === undefined ? 0 : text.length - own.length
  const bytes = Buffer.byteLength(text)
  if (bytes <= share) return { text, content: [] }
  const artifact = whole ?? (await wholes.put(text, mimeType))
  const maxBytes = Math.max(0, share - marks)
  const where = `the whole is in ${wholes.uriOf(artifact)}`
  const short = shortenText(own ?? text, { maxBytes, whole: where })
  return {
    text: own === undefined ? short.text : replaceUntrusted(text, short.text),
    content: whole === undefined ? [{ type: 'artifact_ref', artifact, note: wholeOutput }] : [],
    cut: { artifact, bytes, shownBytes: short.shownBytes },
  }
}
