import { canonicalJson } from '../../kit/json/canonical-json.ts'
import { watchFiles } from '../../kit/watch-files.ts'
import type { LoadedUpstreams } from './load-upstreams.ts'

/**
 * Watches the file of MCP servers. What differs from `current` already is called back soon; one change after the other. Does not keep the process alive. Close it.
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
  return watchFiles(() => [path], read)
}
