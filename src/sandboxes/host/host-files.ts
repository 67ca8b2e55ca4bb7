import { join } from 'node:path'
import type { Files } from '../../contract/sandbox.ts'
import { listDirectory } from './list-directory.ts'
import { locate } from './locate.ts'
import { readChunks, readFile } from './read-file.ts'
import type { Reach } from './reach.ts'
import { refuseProtected, refuseProtectedAt } from './refuse-protected.ts'
import { toFileStat } from './to-file-stat.ts'
import { copyTree, deleteTree, moveTree } from './trees/change-tree.ts'
import { resolveEntry } from './trees/entry.ts'
import { lookAtTree } from './trees/known-tree.ts'
import { writeFile } from './write-file.ts'

/** Files inside the roots of a call. */
export function createHostFiles(reach: Reach): Files {
  return {
    async resolve(path, purpose) {
      using place = locate(reach, path, purpose)
      if (purpose === 'write') refuseProtected(reach, place, path)
      return join(place.held.real, ...place.missing)
    },
    async resolveEntry(path, purpose) {
      const real = resolveEntry(reach, path, purpose)
      if (purpose === 'write') refuseProtectedAt(reach, real, path)
      return real
    },
    async stat(path) {
      using place = locate(reach, path, 'read')
      return place.missing.length === 0 ? toFileStat(place.held.stat) : undefined
    },
    read: (path, options) => readFile(reach, path, options?.maxBytes ?? reach.limits.readBytes),
    chunks: (path) => readChunks(reach, path),
    list: (path, options) => listDirectory(reach, path, options),
    write: (path, bytes, options) => writeFile(reach, path, { bytes, ...options }),
    survey: (path, options) => lookAtTree(reach, path, options),
    copy: (from, to, options) => copyTree(reach, { from, to }, options).finally(reach.moved),
    move: (from, to, options) => moveTree(reach, { from, to }, options).finally(reach.moved),
    remove: (path, options) => deleteTree(reach, path, options),
  }
}
