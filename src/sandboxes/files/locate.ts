import { readlinkSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { ToolFailure } from '../../contract/base/errors.ts'
import { fileNotFound, outsideRoots, systemErrorName, toFileFailure, type Purpose } from './file-failure.ts'
import type { PathHandle } from './path-handle.ts'
import { openPath } from './open-path.ts'
import type { Reach } from './reach.ts'
import { toAbsolutePath } from './to-absolute-path.ts'

/** A place inside the roots: what is there, or the nearest directory above it and the names that are missing below. */
export interface Place extends Disposable {
  readonly held: PathHandle
  /** Empty if the path exists. */
  readonly missing: readonly string[]
}

const maxLinks = 40

/**
 * Finds a path inside the roots that the purpose needs, following links that stay inside. Fails if it leads outside, also
 * if that is by a link to nothing. Dispose of what it returns.
 */
export function locate(reach: Reach, path: string, purpose: Purpose): Place {
  const roots = purpose === 'read' ? reach.read : reach.write
  let target = toAbsolutePath(path, reach.project)
  for (let links = 0; links < maxLinks; links++) {
    if (!roots.cover(target)) throw outsideRoots(path, purpose)
    const nearest = holdNearest(target, path)
    const { held, missing } = nearest
    try {
      if (!roots.contain(held.real)) throw outsideRoots(path, purpose)
      const next = pathBehind(nearest, path)
      if (next === undefined) return { held, missing, [Symbol.dispose]: () => held[Symbol.dispose]() }
      target = next
    } catch (error) {
      held[Symbol.dispose]()
      throw error
    }
    held[Symbol.dispose]()
  }
  throw new ToolFailure({
    reason: 'file_not_found',
    message: `"${path}" leads through too many links, or in a circle. Use the path of the file itself.`,
  })
}

/** What is at a path inside the readable roots. Fails with `file_not_found` where there is nothing. */
export function locateExisting(reach: Reach, path: string): PathHandle {
  const { held, missing } = locate(reach, path, 'read')
  if (missing.length === 0) return held
  held[Symbol.dispose]()
  throw fileNotFound(path)
}

/** Goes up from the target until there is something to hold. */
function holdNearest(target: string, path: string): Nearest {
  const missing: string[] = []
  let because = ''
  for (let at = target; ; at = dirname(at)) {
    try {
      return { held: openPath(at), missing, because }
    } catch (error) {
      because = systemErrorName(error) ?? ''
      if (at === dirname(at) || !passable.has(because)) throw toFileFailure(error, path)
    }
    missing.unshift(basename(at))
  }
}

interface Nearest {
  held: PathHandle
  missing: string[]
  /** The system error that the first missing name gave. */
  because: string
}

/** Errors for a path if only a directory above it can be held. */
const passable = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES', 'ENAMETOOLONG'])

/** The path to try instead, where the first missing name is a link or has appeared meanwhile; undefined if there is nothing. */
function pathBehind(nearest: Nearest, path: string): string | undefined {
  const { held, missing } = nearest
  const [first, ...rest] = missing
  if (first === undefined || !held.stat.isDirectory()) return undefined
  try {
    return resolve(held.real, readlinkSync(join(held.self, first)), ...rest)
  } catch (error) {
    const name = systemErrorName(error)
    if (name === 'ENOENT' || name === 'ENAMETOOLONG') return undefined
    if (name !== 'EINVAL' || nearest.because === 'EACCES')
      throw toFileFailure(Object.assign(new Error('EACCES'), { code: 'EACCES' }), path)
    return join(held.real, first, ...rest)
  }
}
