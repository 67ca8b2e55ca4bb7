import { randomBytes } from 'node:crypto'
import {
  closeSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { messageOf } from '../../../kit/text/message-of.ts'

/** The key of a store, or why there is none to use. */
export type FoundKey = { key: Uint8Array } | { problem: string; isMissing: boolean }

/** The file beside a database that holds the key of its seals. */
export function storeKeyPath(path: string): string {
  return `${path}.key`
}

/** Reads the key of the database at this path. */
export function readStoreKey(path: string): FoundKey {
  const file = storeKeyPath(path)
  const found = readKeyFile(file)
  if (found === undefined)
    return { problem: `its key "${file}" is not there; put it back from a copy`, isMissing: true }
  return found
}

/** A key that is written and has no name yet: `keep` sets the one by which it is found. */
export interface DraftedKey {
  key: Uint8Array
  keep(): void
}

/**
 * The key for a database whose tables are made or sealed right now, in a transaction that holds its write lock. A new one is on the disk
 * before the transaction is, and gets its name when it is: whatever ends the process in between, the key of a sealed store is there.
 */
export function draftStoreKey(path: string): DraftedKey {
  const draft = draftPath(path)
  const key = randomBytes(32)
  rmSync(draft, { force: true })
  const file = openSync(draft, 'wx', 0o600)
  try {
    writeFileSync(file, `${key.toString('base64url')}\n`)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  return { key, keep: () => keepDraft(path) }
}

/** The key whose process ended before it gave it its name, if `fits` says that it is the right one. */
export function adoptStoreKey(path: string, fits: (key: Uint8Array) => boolean): Uint8Array | undefined {
  const found = readKeyFile(draftPath(path))
  if (found === undefined || !('key' in found) || !fits(found.key)) return undefined
  keepDraft(path)
  return found.key
}

function draftPath(path: string): string {
  return `${storeKeyPath(path)}.new`
}

/** Another process may have done the same. */
function keepDraft(path: string): void {
  try {
    renameSync(draftPath(path), storeKeyPath(path))
  } catch (error) {
    if (!isCode(error, 'ENOENT')) throw error
  }
}

function readKeyFile(file: string): FoundKey | undefined {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    if (isCode(error, 'ENOENT')) return undefined
    const why = messageOf(error)
    return { problem: `its key "${file}" cannot be read (${why})`, isMissing: false }
  }
  if (process.platform !== 'win32' && (statSync(file).mode & 0o077) !== 0)
    return {
      problem: `its key "${file}" is open to others; close it with chmod 600, if nobody else can have read it`,
      isMissing: false,
    }
  if (!/^[\w-]{43}\n$/.test(text))
    return { problem: `its key "${file}" is damaged; put it back from a copy`, isMissing: false }
  return { key: Buffer.from(text, 'base64url') }
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}
