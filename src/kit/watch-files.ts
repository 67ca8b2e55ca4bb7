import { statSync } from 'node:fs'

/** How often the files are looked at. */
const everyMs = 150

/**
 * Calls `onChange` soon after the start, and after each change of the files that `list` names, whether they are written in place, replaced or
 * removed; one call after the other. It waits until they look the same twice, because an editor may write in several steps. Keeps no process
 * alive. `close` resolves when the last call has ended.
 */
export function watchFiles(
  list: () => readonly string[],
  onChange: () => Promise<void>,
): { close(): Promise<void> } {
  let last = ''
  let settled: string | undefined
  let looking: Promise<void> | undefined
  let isClosed = false

  const look = async (): Promise<void> => {
    const now = signatureOf(list())
    const isSettled = now === last
    last = now
    if (isClosed || !isSettled || now === settled) return
    settled = now
    await onChange()
  }
  const timer = setInterval(() => {
    looking ??= look().finally(() => (looking = undefined))
  }, everyMs).unref()
  return {
    async close() {
      isClosed = true
      clearInterval(timer)
      await looking
    },
  }
}

/** Another text as soon as any file is another one. */
export function signatureOf(paths: readonly string[]): string {
  return paths.map(describe).join('\n')
}

/** Asked for here, as handing it to a thread takes much longer than the answer. */
function describe(path: string): string {
  try {
    const found = statSync(path, { throwIfNoEntry: false })
    return found === undefined ? path : `${path} ${found.ino} ${found.size} ${found.mtimeMs} ${found.ctimeMs}`
  } catch {
    return path
  }
}
