import { closeSync, openSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeTemporaryFolder } from '../leftovers/temporary-folder.ts'

/** Contents that programs read from a descriptor, kept in files without a name. Close it. */
export interface Contents {
  /** The file with this content, by a path that is good in this process until this is closed. */
  file(content: string | Buffer): string
  close(): void
}

/** Keeps each content once. */
export function createContents(): Contents {
  const kept = new Map<string | Buffer, number>()
  return {
    file(content) {
      if (content.length === 0) return '/dev/null'
      let held = kept.get(content)
      if (held === undefined) kept.set(content, (held = keep(content)))
      return `/proc/self/fd/${held}`
    },
    close() {
      for (const held of kept.values()) closeSync(held)
      kept.clear()
    },
  }
}

function keep(content: string | Buffer): number {
  const folder = makeTemporaryFolder()
  const path = join(folder, 'content')
  try {
    writeFileSync(path, content, { mode: 0o600 })
    return openSync(path, 'r')
  } finally {
    rmSync(path, { force: true })
    rmdirSync(folder)
  }
}
