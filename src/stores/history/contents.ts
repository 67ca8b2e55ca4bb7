import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open, rename, rm, stat, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { ToolFailure } from '../../contract/base/errors.ts'
import { newId } from '../../kit/new-id.ts'
import { isMissing, notKept } from './history-failure.ts'
import { makeFolder } from './folders.ts'

/** A content on its way into the history. */
export interface KeptFile {
  readonly digest: string
  readonly bytes: number
  readonly open: () => AsyncIterable<Uint8Array>
}

/** Where a content lies in the folder of a tenant; undefined for what is not a digest. */
export function contentPath(folder: string, digest: string): string | undefined {
  const hex = /^sha256:([0-9a-f]{64})$/.exec(digest)?.[1]
  return hex === undefined ? undefined : join(folder, 'content', hex.slice(0, 2), hex)
}

/** Whether it is there. It counts as new from now on, so that it is not cleared away before the call that needs it is noted. */
export async function renewContent(folder: string, { digest, bytes }: KeptFile): Promise<boolean> {
  const path = contentPath(folder, digest)
  if (path === undefined) return false
  try {
    if ((await stat(path)).size !== bytes) return false
    const now = new Date()
    await utimes(path, now, now)
    return true
  } catch (error) {
    if (isMissing(error)) return false
    throw error
  }
}

/**
 * Writes it as a whole or not at all. Returns the folder in which its name is, which is durable once that is synced. Fails with `stale_preview` if it is
 * not what its digest says.
 */
export async function writeContent(folder: string, file: KeptFile): Promise<string> {
  const path = contentPath(folder, file.digest)
  if (path === undefined) throw new TypeError(`"${file.digest}" is no digest of a file.`)
  const shelf = join(path, '..')
  await makeFolder(shelf)
  const part = join(shelf, newId('part', Date.now()))
  try {
    const handle = await open(part, 'wx', 0o600)
    try {
      const hash = createHash('sha256')
      for await (const piece of file.open()) {
        hash.update(piece)
        await handle.writeFile(piece)
      }
      if (`sha256:${hash.digest('hex')}` !== file.digest) throw changedMeanwhile()
      await handle.sync()
    } finally {
      await handle.close()
    }
    await rename(part, path)
    return shelf
  } catch (error) {
    await rm(part, { force: true })
    throw error
  }
}

/** What is kept, piece by piece. Rejects at the end where it is not what its digest says. */
export async function* readContent(folder: string, digest: string): AsyncGenerator<Uint8Array> {
  const path = contentPath(folder, digest)
  if (path === undefined) throw notKept(digest, 'gone')
  const hash = createHash('sha256')
  try {
    for await (const piece of createReadStream(path) as AsyncIterable<Uint8Array>) {
      hash.update(piece)
      yield piece
    }
  } catch (error) {
    throw isMissing(error) ? notKept(digest, 'gone') : error
  }
  if (`sha256:${hash.digest('hex')}` !== digest) throw notKept(digest, 'changed')
}

function changedMeanwhile(): ToolFailure {
  return new ToolFailure({
    reason: 'stale_preview',
    message:
      'A file changed while what it held was kept for undo; nothing was changed. Read it again, and make the call again.',
  })
}
