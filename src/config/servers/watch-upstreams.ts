import { unwatchFile, watchFile } from 'node:fs'
import { canonicalJson } from '../../kit/json/canonical-json.ts'
import type { LoadedUpstreams } from './load-upstreams.ts'

/** How often the file is looked at. */
const everyMs = 250
/** An editor may write a file in several steps; it is read when it has not changed for this long. */
const settleMs = 100

/**
 * Watches the file of MCP servers, whether it is written in place or replaced. What differs from `current` already is called back soon;
 * one change after the other. Does not keep the process alive. Close it.
 */
export function watchUpstreams(options: {
  path: string
  load: () => LoadedUpstreams
  current: LoadedUpstreams
  onChange: (loaded: LoadedUpstreams) => Promise<void>
  /** Told why a change could not be taken over. It is tried again when the file changes once more. */
  onFailure: (error: unknown) => void
}): { close(): Promise<void> } {
  const { path, load, onChange, onFailure } = options
  let known: string | undefined = canonicalJson(options.current)
  let settling: NodeJS.Timeout | undefined
  let reading: Promise<void> = Promise.resolve()
  const read = async (): Promise<void> => {
    try {
      const loaded = load()
      const text = canonicalJson(loaded)
      if (text === known) return
      await onChange(loaded)
      known = text
    } catch (error) {
      // Part of it may hold by now, so that no version of the file is the one that does.
      known = undefined
      onFailure(error)
    }
  }
  const settle = (): void => {
    clearTimeout(settling)
    settling = setTimeout(() => {
      reading = reading.then(read)
    }, settleMs).unref()
  }
  watchFile(path, { interval: everyMs, persistent: false }, settle)
  settle()
  return {
    async close() {
      clearTimeout(settling)
      unwatchFile(path, settle)
      await reading
    },
  }
}
