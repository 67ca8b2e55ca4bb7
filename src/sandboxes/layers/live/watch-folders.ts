import { readdirSync, watch, type FSWatcher } from 'node:fs'
import { setImmediate as giveWay } from 'node:timers/promises'
import { join } from 'node:path'

/** More folders are not watched: the kernel has watches for so many of a user. */
const mostFolders = 4_096

/** What of a root is watched, and who is told. */
export interface Watching {
  /** Whether what is at a path below the root is left out. */
  readonly skips: (path: string) => boolean
  /** Told of each path below the root at which something changed, or may have. `isOther`: if it may be another file than before. */
  readonly onChange: (path: string, isOther: boolean) => void
}

/** Watches the folders of a root, as far as there are not too many, new ones too. Dispose of it. */
export async function watchFolders(root: string, { skips, onChange }: Watching): Promise<Disposable> {
  const watchers = new Map<string, FSWatcher>()
  const close = (path: string) => {
    watchers.get(path)?.close()
    watchers.delete(path)
  }
  const add = (path: string): string[] => {
    if (watchers.has(path) || watchers.size >= mostFolders || skips(path)) return []
    try {
      const watcher = watch(join(root, path), { persistent: false }, (event, name) => {
        if (name === null || skips(join(path, name))) return
        onChange(join(path, name), event === 'rename')
        for (const each of addAll(join(path, name))) onChange(each, true)
      })
      watcher.on('error', () => close(path))
      watchers.set(path, watcher)
      return readdirSync(join(root, path), { withFileTypes: true })
        .filter((entry) => entry.isDirectory())
        .map(({ name }) => join(path, name))
    } catch {
      // It is not a folder, or not there any more.
      close(path)
      return []
    }
  }
  /** Returns the new folders below. */
  const addAll = (path: string): string[] => {
    const found = add(path)
    return [...found, ...found.flatMap(addAll)]
  }
  for (let next = ['']; next.length > 0;) {
    const found: string[] = []
    for (const path of next) found.push(...add(path))
    next = found
    await giveWay()
  }
  return {
    [Symbol.dispose]() {
      for (const path of watchers.keys()) close(path)
    },
  }
}
