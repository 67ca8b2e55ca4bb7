import { createHash } from 'node:crypto'
import { readSync } from 'node:fs'
import { join } from 'node:path'
import type { FileEffect } from '../../contract/base/effects.ts'
import { ToolFailure } from '../../contract/base/errors.ts'
import { digestOf, openOwn } from './landing/content.ts'
import { kindOf } from './landing/expected.ts'
import { holdRoot } from './landing/folders.ts'
import { maxEntries, walkBelow } from './landing/walk-below.ts'
import { createTurns } from './landing/turns.ts'
import type { Change } from './change.ts'
import { toEffect, toKind } from './to-effect.ts'

/** By which path this process sees a changed path in the layer. */
export type InLayer = (change: Pick<Change, 'root' | 'path'>) => string

/** What changes come to, with all that is below a removed folder. Each folder before what is in it. Fails with `file_limit` for too many. */
export async function listEffects(changes: readonly Change[]): Promise<FileEffect[]> {
  const effects: FileEffect[] = []
  const add = (effect: FileEffect) => {
    if (effects.push(effect) > maxEntries) throw tooMany()
  }
  for (const change of changes) {
    add(toEffect(change))
    if (change.kind !== 'none' || change.had !== 'directory') continue
    using folders = holdRoot(change.root)
    await walkBelow(folders.at(change.path), ({ path, stat }) => {
      add({ path: join(change.root, change.path, path), effect: 'removed', kind: toKind(kindOf(stat)) })
    })
  }
  return effects
}

/** Of every changed path with its kind, mode, link and content in the layer. */
export async function digestChanges(changes: readonly Change[], inLayer: InLayer): Promise<string> {
  const hasher = createHash('sha256')
  const turns = createTurns()
  for (const change of changes) {
    await turns()
    const { root, path, kind, had, mode, target } = change
    const content = kind === 'file' ? await digestAt(change, inLayer) : undefined
    hasher.update(`${JSON.stringify([root, path, kind, had, mode, target ?? '', content ?? ''])}\n`)
  }
  return `sha256:${hasher.digest('hex')}`
}

async function digestAt(change: Change, inLayer: InLayer): Promise<string> {
  using file = openOwn(inLayer(change), join(change.root, change.path))
  return await digestOf(file)
}

/** What a changed file holds in the layer; undefined if it is not a file there, or has more bytes. */
export function readChanged(change: Change, inLayer: InLayer, maxBytes: number): Uint8Array | undefined {
  if (change.kind !== 'file' || change.size > maxBytes) return undefined
  using file = openOwn(inLayer(change), join(change.root, change.path))
  const bytes = Buffer.alloc(Number(file.stat.size))
  let done = 0
  for (let count = -1; count !== 0; done += count)
    count = readSync(file.descriptor, bytes, done, bytes.length - done, done)
  return bytes.subarray(0, done)
}

function tooMany(): ToolFailure {
  return new ToolFailure({
    code: 'SANDBOX.CAPABILITY_BLOCKED',
    reason: 'file_limit',
    message: `The command changed more than ${maxEntries} files and folders, with those in removed folders. Nothing was kept. Let it change less.`,
  })
}
