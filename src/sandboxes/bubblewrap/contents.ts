import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Contents that programs read from a descriptor, kept in files without a name. Close it. */
export interface Contents {
  /** A descriptor at the start of this content. Close it. */
  open(content: string | Buffer): number
  close(): void
}

/** Keeps each content once. */
export function createContents(): Contents {
  const kept = new Map<string | Buffer, number>()
  return {
    open(content) {
      if (content.length === 0) return openSync('/dev/null', 'r')
      let held = kept.get(content)
      if (held === undefined) kept.set(content, (held = keep(content)))
      // Opened anew, so that each reader starts at the start.
      return openSync(`/proc/self/fd/${held}`, 'r')
    },
    close() {
      for (const held of kept.values()) closeSync(held)
      kept.clear()
    },
  }
}

function keep(content: string | Buffer): number {
  const folder = mkdtempSync(join(tmpdir(), 'handrail-'))
  try {
    const path = join(folder, 'content')
    writeFileSync(path, content, { mode: 0o600 })
    return openSync(path, 'r')
  } finally {
    rmSync(folder, { recursive: true })
  }
}
