import { join } from 'node:path'
import type { Files } from '../../contract/services/sandbox.ts'
import { listDirectory } from '../files/list-directory.ts'
import { locate } from '../files/locate.ts'
import { readChunks, readFile } from '../files/read-file.ts'
import type { Reach } from '../files/reach.ts'
import { refuseProtected, refuseProtectedAt } from '../files/refuse-protected.ts'
import { toFileStat } from '../files/to-file-stat.ts'
import { copyTree, deleteTree, moveTree } from '../files/trees/change-tree.ts'
import { resolveEntry } from '../files/trees/entry.ts'
import { lookAtTree } from '../files/trees/known-tree.ts'
import { lookAtState } from '../files/trees/tree-effects.ts'
import { writeFile } from '../files/write-file.ts'
import { restorePaths } from '../layers/undo/restore-paths.ts'

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
    state: (path) => lookAtState(reach, path),
    restore: (effects, open) => restorePaths(reach, effects, open).finally(reach.moved),
  }
}
