import { lstatSync, type Stats } from 'node:fs'
import { opendir } from 'node:fs/promises'
import type { DirectoryEntry } from '../../contract/services/sandbox.ts'
import { systemErrorName, toFileFailure, wrongKind } from './file-failure.ts'
import type { PathHandle } from './path-handle.ts'
import { openEntry } from './open-path.ts'
import { locateExisting } from './locate.ts'
import { stopIfAborted, type Reach } from './reach.ts'
import { kindOf } from './to-file-stat.ts'

interface Listing {
  readonly reach: Reach
  readonly recursive: boolean
  readonly limit: number
  readonly maxDepth: number
  readonly entries: DirectoryEntry[]
  truncated: boolean
}

const defaultMaxDepth = 64

/**
 * Entries of a directory in name order (UTF-16 code units), those of a subdirectory right after it. Links are named, not
 * followed. `truncated` says that something is left out: by `limit`, by `maxDepth`, because a directory has more names than the
 * sandbox reads, or because a subdirectory may not be read. What vanishes meanwhile is left out.
 */
export async function listDirectory(
  reach: Reach,
  path: string,
  options: { recursive: boolean; limit: number; maxDepth?: number },
): Promise<{ entries: DirectoryEntry[]; truncated: boolean }> {
  using held = locateExisting(reach, path)
  if (!held.stat.isDirectory()) throw wrongKind(path, kindOf(held.stat), 'directory')
  const { recursive, limit, maxDepth = defaultMaxDepth } = options
  const listing: Listing = { reach, recursive, limit, maxDepth, entries: [], truncated: false }
  try {
    await listInto(listing, held, '')
  } catch (error) {
    throw toFileFailure(error, path)
  }
  return { entries: listing.entries, truncated: listing.truncated }
}

async function listInto(listing: Listing, directory: PathHandle, prefix: string): Promise<void> {
  for (const name of await namesIn(listing, directory)) {
    const stat = statEntry(directory, name)
    if (stat === undefined) continue
    if (listing.entries.length >= listing.limit) {
      listing.truncated = true
      return
    }
    const path = prefix + name
    listing.entries.push({ path, kind: kindOf(stat), size: stat.size })
    if (listing.recursive && stat.isDirectory()) await descend(listing, directory, path)
  }
}

async function descend(listing: Listing, parent: PathHandle, path: string): Promise<void> {
  if (path.split('/').length >= listing.maxDepth) {
    listing.truncated = true
    return
  }
  try {
    using directory = openEntry(parent, path.slice(path.lastIndexOf('/') + 1))
    if (directory.stat.isDirectory()) await listInto(listing, directory, `${path}/`)
  } catch (error) {
    if (isGone(error)) return
    if (systemErrorName(error) !== 'EACCES') throw error
    listing.truncated = true
  }
}

async function namesIn(listing: Listing, directory: PathHandle): Promise<string[]> {
  stopIfAborted(listing.reach)
  const names: string[] = []
  for await (const entry of await opendir(directory.self, { bufferSize: 1024 })) {
    if (names.length >= listing.reach.limits.directoryNames) {
      listing.truncated = true
      break
    }
    names.push(entry.name)
  }
  return names.sort()
}

function statEntry(directory: PathHandle, name: string): Stats | undefined {
  try {
    return lstatSync(`${directory.self}/${name}`)
  } catch (error) {
    if (isGone(error)) return undefined
    throw error
  }
}

/** Removed, or replaced by something else, since its name was read. */
function isGone(error: unknown): boolean {
  const name = systemErrorName(error)
  return name === 'ENOENT' || name === 'ENOTDIR' || name === 'ELOOP'
}
