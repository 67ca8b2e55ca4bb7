import { join } from 'node:path'
import { openEntry, openPath } from '../../files/open-path.ts'
import type { PathHandle } from '../../files/path-handle.ts'

/** Folders below one, held open. */
export interface Folders extends Disposable {
  readonly top: PathHandle
  /** The folder at a relative path, held until one that is not in it is asked for. Throws `ENOTDIR` if a link is on the way. */
  at(path: string): PathHandle
}

/** Holds a root. Throws `ENOTDIR` if it is not a folder, or a link leads to it. */
export function holdRoot(root: string): Folders {
  const top = openPath(root)
  if (top.real === root && top.stat.isDirectory()) return holdFolders(top)
  top[Symbol.dispose]()
  throw notAFolder()
}

/** Takes over a held folder. Each folder below is opened in the one above it, and no link is followed. */
export function holdFolders(top: PathHandle): Folders {
  let held: { name: string; handle: PathHandle }[] = []
  const drop = (count: number) => {
    for (const { handle } of held.slice(count)) handle[Symbol.dispose]()
    held = held.slice(0, count)
  }
  return {
    top,
    at(path) {
      const names = path === '' || path === '.' ? [] : path.split('/')
      const other = names.findIndex((name, at) => held[at]?.name !== name)
      drop(other === -1 ? names.length : other)
      for (const name of names.slice(held.length)) {
        const above = held.at(-1)?.handle ?? top
        held.push({ name, handle: holdIn(above, name) })
      }
      return held.at(-1)?.handle ?? top
    },
    [Symbol.dispose]() {
      drop(0)
      top[Symbol.dispose]()
    },
  }
}

/** Holds a folder in a held one, where that one is now. */
export function holdIn(above: PathHandle, name: string): PathHandle {
  const handle = openEntry(above, name)
  if (handle.stat.isDirectory() && handle.real === join(above.real, name)) return handle
  handle[Symbol.dispose]()
  throw notAFolder()
}

function notAFolder(): Error {
  return Object.assign(new Error('ENOTDIR: not a folder, or one that was moved'), { code: 'ENOTDIR' })
}
