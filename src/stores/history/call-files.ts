import { constants } from 'node:fs'
import { open, readdir, readFile, truncate, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import type { PathEffect, PathState } from '../../contract/base/effects.ts'
import type { PastCall } from '../../contract/services/history.ts'
import type { RecordedCall } from '../../contract/history.ts'
import { fileDigest } from '../../kit/json/digest.ts'
import { isPlainObject } from '../../kit/json/is-plain-object.ts'
import { makeFolder, syncFolder } from './folders.ts'
import { isMissing } from './history-failure.ts'

/** The first line of a file. */
export interface CallHead extends RecordedCall {
  /** The calls that it is to take back. */
  readonly undoes?: readonly string[]
}

/** A further line: effects, and what of them could not be kept; or that what was to be taken back is. */
export interface CallLine {
  readonly done?: boolean
  readonly effects: readonly PathEffect[]
  readonly unkept: readonly string[]
}

/** A call as its file says. */
export interface ReadCall extends PastCall {
  readonly tenant: string
}

const ending = '.jsonl'

/** The file of a call. An id that could not be the name of a file has one of its own. */
export function callPath(folder: string, call: string): string {
  const name = /^[A-Za-z0-9_-]{1,100}$/.test(call) ? call : fileDigest(call).slice(7)
  return join(folder, 'calls', `${name}${ending}`)
}

/** Writes the head of a call's file with its first effects, or adds to it; durably, or not at all. */
export async function writeLines(path: string, lines: readonly object[], isNew: boolean): Promise<void> {
  const folder = join(path, '..')
  if (isNew) await makeFolder(folder)
  // What was cleared away meanwhile is not begun anew without its head.
  const { O_WRONLY, O_APPEND } = constants
  const handle = await open(path, isNew ? 'wx' : O_WRONLY | O_APPEND, 0o600)
  try {
    const { size } = await handle.stat()
    await append(handle, lines).catch(async (error: unknown) => {
      await truncate(path, size)
      throw error
    })
  } finally {
    await handle.close()
  }
  if (isNew) await syncFolder(folder)
}

async function append(handle: FileHandle, lines: readonly object[]): Promise<void> {
  await handle.writeFile(lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  await handle.sync()
}

/** The files of a tenant's calls, the oldest first: ids sort by time. */
export async function listCallFiles(folder: string): Promise<string[]> {
  try {
    const names = await readdir(join(folder, 'calls'))
    return names
      .filter((name) => name.endsWith(ending))
      .sort()
      .map((name) => join(folder, 'calls', name))
  } catch (error) {
    if (isMissing(error)) return []
    throw error
  }
}

/** What a file says; undefined if it is gone, or not all of it can be read. What was cut off at its end never came into force. */
export async function readCallFile(path: string): Promise<ReadCall | undefined> {
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
  const [head, ...lines] = text.split('\n').slice(0, -1).map(parseLine)
  if (!isHead(head) || !lines.every(isLine)) return undefined
  const { undoes, ...call } = head
  return {
    ...call,
    ...(undoes !== undefined && { undoes: { calls: undoes, done: lines.some(({ done }) => done === true) } }),
    effects: lines.flatMap(({ effects }) => effects),
    unkept: lines.flatMap(({ unkept }) => unkept),
  }
}

function parseLine(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

function isHead(value: unknown): value is CallHead {
  if (!isPlainObject(value)) return false
  const { undoes } = value
  return (
    ['call', 'tool', 'session', 'tenant', 'actor', 'project'].every(
      (name) => typeof value[name] === 'string',
    ) &&
    typeof value['at'] === 'number' &&
    (undoes === undefined || isTexts(undoes))
  )
}

function isLine(value: unknown): value is CallLine {
  if (!isPlainObject(value)) return false
  const { effects, unkept } = value
  return Array.isArray(effects) && effects.every(isEffect) && isTexts(unkept)
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((each) => typeof each === 'string')
}

function isEffect(value: unknown): value is PathEffect {
  return (
    isPlainObject(value) &&
    typeof value['path'] === 'string' &&
    isState(value['before']) &&
    isState(value['after'])
  )
}

function isState(value: unknown): value is PathState {
  if (!isPlainObject(value)) return false
  const { kind, mode, target, bytes, digest } = value
  if (kind === 'none' || kind === 'special') return true
  if (kind === 'directory') return typeof mode === 'number'
  if (kind === 'link') return typeof target === 'string'
  return (
    kind === 'file' && typeof mode === 'number' && typeof bytes === 'number' && typeof digest === 'string'
  )
}
