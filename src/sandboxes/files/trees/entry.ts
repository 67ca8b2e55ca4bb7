import { lstatSync, type BigIntStats } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileNotFound, outsideRoots, systemErrorName, type Purpose } from '../file-failure.ts'
import type { PathHandle } from '../path-handle.ts'
import { openEntry } from '../open-path.ts'
import { locate } from '../locate.ts'
import { makeNotedDirectories } from '../make-directories.ts'
import type { Reach } from '../reach.ts'
import { toAbsolutePath } from '../to-absolute-path.ts'

/**
 * A name in a directory that is held open inside the roots, whatever the name stands for: a link is meant itself, never what it
 * leads to. Dispose of it.
 */
export interface Entry extends Disposable {
  readonly directory: PathHandle
  readonly name: string
  /** Where it is, links of its directory resolved. */
  readonly real: string
  /** A path for calls of `node:fs` that means this name in this very directory. */
  readonly at: string
}

/** The entry at a path. Fails with `file_not_found` if its directory does not exist. */
export function locateEntry(reach: Reach, path: string, purpose: Purpose): Entry {
  const entry = findEntry(reach, path, purpose)
  if (entry === undefined) throw fileNotFound(path)
  return entry
}

/** The entry at a path; undefined if its directory does not exist. */
export function findEntry(reach: Reach, path: string, purpose: Purpose): Entry | undefined {
  const { parent, name } = split(reach, path, purpose)
  const place = locate(reach, parent, purpose)
  if (place.missing.length === 0 && place.held.stat.isDirectory()) return toEntry(place.held, name)
  place[Symbol.dispose]()
  return undefined
}

/** Where an entry is to be made; makes missing directories where that is asked for. */
export async function makeEntry(reach: Reach, path: string, createDirs: boolean): Promise<Entry> {
  const { parent, name } = split(reach, path, 'write')
  using place = locate(reach, parent, 'write')
  const { missing: names } = place
  return toEntry(await makeNotedDirectories(reach.history, place, { names, path, createDirs }), name)
}

/** Where an entry is, or would be, links of its directory resolved. Makes nothing. */
export function resolveEntry(reach: Reach, path: string, purpose: Purpose): string {
  const { parent, name } = split(reach, path, purpose)
  using place = locate(reach, parent, purpose)
  return join(place.held.real, ...place.missing, name)
}

/** What the entry is now; undefined if there is nothing. */
export function lookAt(entry: Pick<Entry, 'at'>): BigIntStats | undefined {
  try {
    return lstatSync(entry.at, { bigint: true })
  } catch (error) {
    if (systemErrorName(error) === 'ENOENT') return undefined
    throw error
  }
}

/** The last name is not looked up, so the directory above a root is asked for where the root itself is named. */
function split(reach: Reach, path: string, purpose: Purpose): { parent: string; name: string } {
  const target = toAbsolutePath(path, reach.project)
  const name = basename(target)
  if (name === '') throw outsideRoots(path, purpose)
  return { parent: dirname(target), name }
}

function toEntry(directory: PathHandle, name: string): Entry {
  return {
    directory,
    name,
    real: join(directory.real, name),
    at: join(directory.self, name),
    [Symbol.dispose]: () => directory[Symbol.dispose](),
  }
}

/** The entry of this name in a directory that is held already; that one stays held. */
export function entryIn(directory: PathHandle, name: string): Omit<Entry, typeof Symbol.dispose> {
  return { directory, name, real: join(directory.real, name), at: join(directory.self, name) }
}

/** Holds what the entry is, without following it. */
export function openHandle({ directory, name }: Pick<Entry, 'directory' | 'name'>): PathHandle {
  return openEntry(directory, name)
}
