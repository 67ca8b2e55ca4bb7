import { constants, closeSync, openSync, readFileSync } from 'node:fs'
import { isUtf8 } from 'node:buffer'
import type { FileEffect } from '../../contract/base/sandbox.ts'
import { readFile } from '../files/read-file.ts'
import type { Reach } from '../files/reach.ts'
import type { Kind } from './change.ts'
import type { LayeredChange } from './layer.ts'

/** Bytes of a file whose text is told, and of all of them together. */
const maxTextBytes = 64 * 1024
const maxTextsBytes = 512 * 1024

/** What changes come to, with the texts of small files. What the call may not read is told without its text. */
export async function toEffects(reach: Reach, changes: readonly LayeredChange[]): Promise<FileEffect[]> {
  const effects: FileEffect[] = []
  let left = maxTextsBytes
  for (const change of changes) {
    const { kind, had, before: path, size } = change
    const text = left > 0 ? await readTexts(reach, change) : undefined
    left -= (text?.before?.length ?? 0) + (text?.after?.length ?? 0)
    effects.push({
      path,
      effect: kind === 'none' ? 'removed' : had === 'none' ? 'created' : 'changed',
      kind: toKind(kind === 'none' ? had : kind),
      ...(kind === 'file' && { bytes: size }),
      ...(text !== undefined && { text }),
    })
  }
  return effects
}

function toKind(kind: Kind): FileEffect['kind'] {
  return kind === 'special' || kind === 'none' ? 'other' : kind
}

async function readTexts(reach: Reach, change: LayeredChange): Promise<FileEffect['text']> {
  const { kind, had, before: path, after: layered, size } = change
  if (kind !== 'file' || size > maxTextBytes || !['file', 'none'].includes(had)) return undefined
  const after = toText(readAfter(layered))
  if (after === undefined) return undefined
  if (had === 'none') return { after }
  const before = await readBefore(reach, path)
  return before === undefined ? undefined : { before, after }
}

/** By the rules of every read: what the call may not see stays unseen. */
async function readBefore(reach: Reach, path: string): Promise<string | undefined> {
  try {
    return toText((await readFile(reach, path, maxTextBytes)).bytes)
  } catch {
    return undefined
  }
}

function readAfter(path: string): Uint8Array {
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW)
  try {
    return readFileSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

function toText(bytes: Uint8Array): string | undefined {
  return isUtf8(bytes) && !bytes.includes(0) ? Buffer.from(bytes).toString() : undefined
}
