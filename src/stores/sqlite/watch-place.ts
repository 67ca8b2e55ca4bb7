import { statSync } from 'node:fs'

/** The disk is asked at most so often. */
const lookEveryMs = 100

/**
 * Remembers the files of an open store, and tells whether they are still where they were. A database goes on in a file that was deleted,
 * moved or replaced, and what is written there is lost with the process.
 */
export function watchPlace(path: string): () => boolean {
  const log = `${path}-wal`
  const opened = identify(path)
  let openedLog = identify(log)
  let lookedAt = performance.now()
  let isThere = true
  return () => {
    if (performance.now() - lookedAt < lookEveryMs) return isThere
    // The log is made with the first access, and stays as long as anybody has the database open.
    openedLog ??= identify(log)
    isThere = identify(path) === opened && identify(log) === openedLog
    lookedAt = performance.now()
    return isThere
  }
}

/** The identity of a file, which another one of the same name does not have; undefined when there is none, or the disk does not say. */
function identify(path: string): string | undefined {
  try {
    const { dev, ino } = statSync(path, { bigint: true })
    return `${dev}:${ino}`
  } catch {
    return undefined
  }
}
