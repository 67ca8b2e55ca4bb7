import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

/** The folder of the library's own programs; undefined if it is not installed. */
export function findLibrary(): string | undefined {
  try {
    const entry = createRequire(import.meta.url).resolve('@anthropic-ai/sandbox-runtime')
    return join(dirname(entry), '..', 'vendor')
  } catch {
    // Not installed: then no command runs, and the answer says what to install.
    return undefined
  }
}
