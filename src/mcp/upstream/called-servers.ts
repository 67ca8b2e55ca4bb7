import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Which servers are called, from one run to the next. */
export interface CalledServers {
  /** Whether the run before called it. */
  wasCalled(server: string): boolean
  /** This run calls it. */
  note(server: string): void
}

/** Kept in this folder. What cannot be read counts as nothing, and what cannot be written is left: the next start is slower then, and no more. */
export function openCalledServers(folder: string): CalledServers {
  const path = join(folder, '.called.json')
  const before = read(path)
  const called = new Set<string>()
  return {
    wasCalled: (server) => before.has(server),
    note(server) {
      if (called.has(server)) return
      called.add(server)
      try {
        writeFileSync(path, JSON.stringify([...called]), { mode: 0o600 })
      } catch {
        // Nothing depends on it.
      }
    },
  }
}

function read(path: string): ReadonlySet<unknown> {
  try {
    const said: unknown = JSON.parse(readFileSync(path, 'utf8'))
    return new Set(Array.isArray(said) ? said : [])
  } catch {
    return new Set()
  }
}
