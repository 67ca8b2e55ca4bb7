import { createHash } from 'node:crypto'
import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs'
import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { ToolFailure } from '../../contract/base/errors.ts'
import type { Artifact } from '../../contract/base/result.ts'
import type { ArtifactWriter } from '../../contract/services/sandbox.ts'
import type { ArtifactStore } from '../../contract/store.ts'
import { fileDigest } from '../../kit/json/digest.ts'
import { newId } from '../../kit/new-id.ts'
import { createChecked, readPart } from './read-part.ts'

/** A part file that was not written for so long belongs to a process that is gone. */
const staleAfterMs = 24 * 60 * 60 * 1000

export interface DiskArtifactsOptions {
  /** Made, for its owner only, with the first artifact. */
  dir: string
}

interface About {
  mimeType: string
  name?: string
}

/**
 * Artifacts in a folder, each under the digest of its content: `ab/abcd…`. An artifact appears as a whole or not at all,
 * and is durable once its promise resolves. Failures are `PROVIDER.UNAVAILABLE / store_failed`.
 */
export function createDiskArtifacts(options: DiskArtifactsOptions): ArtifactStore {
  const dir = resolve(options.dir)
  const parts = join(dir, 'parts')
  const checked = createChecked()
  let swept: Promise<void> | undefined

  const pathOf = (digest: string): string | undefined => {
    const hex = /^sha256:([0-9a-f]{64})$/.exec(digest)?.[1]
    return hex === undefined ? undefined : join(dir, hex.slice(0, 2), hex)
  }
  const openWriter = (about: About): ArtifactWriter => {
    swept ??= removeStaleParts(parts)
    return writeParts({ dir, part: join(parts, newId('part', Date.now())), swept, about })
  }
  return {
    open: openWriter,
    put(bytes, about) {
      const writer = openWriter(about)
      writer.write(bytes)
      return writer.finish()
    },
    async get(digest) {
      const path = pathOf(digest)
      if (path === undefined) return undefined
      let bytes: Uint8Array
      try {
        bytes = await readFile(path)
      } catch (error) {
        if (isMissing(error)) return undefined
        throw failure(`The artifact ${digest} cannot be read`, error)
      }
      if (fileDigest(bytes) === digest) return bytes
      throw changedOnDisk(digest, path)
    },
    async read(digest, part) {
      const path = pathOf(digest)
      if (path === undefined) return undefined
      try {
        const read = await readPart({ path, digest, checked, part })
        if (read !== 'changed') return read
      } catch (error) {
        if (isMissing(error)) return undefined
        throw failure(`The artifact ${digest} cannot be read`, error)
      }
      throw changedOnDisk(digest, path)
    },
    async prune({ at, mayGo }) {
      let pruned = 0
      for (const { digest, path } of await listAll(dir)) {
        if (!mayGo(digest) || (await stat(path)).mtimeMs >= at) continue
        await rm(path, { force: true })
        pruned += 1
      }
      return pruned
    },
  }
}

async function listAll(dir: string): Promise<{ digest: string; path: string }[]> {
  try {
    const entries = await readdir(dir, { withFileTypes: true, recursive: true })
    return entries
      .filter((entry) => entry.isFile() && /^[0-9a-f]{64}$/.test(entry.name))
      .map(({ name, parentPath }) => ({ digest: `sha256:${name}`, path: join(parentPath, name) }))
  } catch (error) {
    if (isMissing(error)) return []
    throw failure('The artifacts cannot be listed', error)
  }
}

/** Writes go straight to the file: a program's output may come faster than memory could hold it. */
function writeParts({
  dir,
  part,
  swept,
  about,
}: {
  dir: string
  part: string
  swept: Promise<void>
  about: About
}): ArtifactWriter {
  const hash = createHash('sha256')
  let bytes = 0
  let file: number | undefined
  let failed: unknown
  const attempt = (work: () => void): void => {
    if (failed !== undefined) return
    try {
      work()
    } catch (error) {
      failed = error
    }
  }
  const write = (chunk: Uint8Array): void => {
    file ??= openPart(part)
    for (let offset = 0; offset < chunk.length;) offset += writeSync(file, chunk, offset)
    hash.update(chunk)
    bytes += chunk.length
  }
  const discard = async (): Promise<void> => {
    await swept
    failed ??= new Error('it is finished already')
    if (file === undefined) return
    closeSync(file)
    file = undefined
    await rm(part, { force: true })
  }
  return {
    write(chunk) {
      attempt(() => write(chunk))
    },
    async finish() {
      attempt(() => write(new Uint8Array()))
      const hex = hash.digest('hex')
      try {
        if (failed !== undefined) throw failed
        await moveIntoPlace(part, join(dir, hex.slice(0, 2)), hex)
      } catch (error) {
        throw failure('An artifact cannot be stored', error)
      } finally {
        await discard()
      }
      return { digest: `sha256:${hex}`, bytes, ...about } satisfies Artifact
    },
    abandon: discard,
  }
}

function openPart(part: string): number {
  mkdirSync(join(part, '..'), { recursive: true, mode: 0o700 })
  return openSync(part, 'wx', 0o600)
}

/** The name is durable only after its directory is synced too. */
async function moveIntoPlace(part: string, directory: string, name: string): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 })
  await sync(part, 'r+')
  await rename(part, join(directory, name))
  if (process.platform !== 'win32') await sync(directory, 'r')
}

async function sync(path: string, flags: string): Promise<void> {
  const handle = await open(path, flags)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

async function removeStaleParts(parts: string): Promise<void> {
  try {
    for (const name of await readdir(parts)) {
      const path = join(parts, name)
      if (Date.now() - (await stat(path)).mtimeMs > staleAfterMs) await rm(path, { force: true })
    }
  } catch {
    // Tidying is not what was asked for: a folder that cannot be used comes up when the artifact is written.
  }
}

function changedOnDisk(digest: string, path: string): ToolFailure {
  return failure(`The artifact ${digest} was changed on the disk ("${path}"); it is not given out.`)
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}

function failure(what: string, cause?: unknown): ToolFailure {
  const message =
    cause === undefined ? what : `${what}: ${cause instanceof Error ? cause.message : JSON.stringify(cause)}.`
  return new ToolFailure({ code: 'PROVIDER.UNAVAILABLE', reason: 'store_failed', message })
}
