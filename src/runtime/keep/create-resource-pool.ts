import type { ResourcePool } from '../state/resource-pool.ts'
import { ToolFailure } from '../../contract/base/errors.ts'

const maxKept = 8

/** A shelf that is empty. All that stands on it ends when `signal` is aborted. */
export function createResourcePool(signal: AbortSignal | undefined): ResourcePool {
  const kept = new Map<string, { thing: unknown; ending: AbortController }>()
  const running = new Set<Promise<unknown>>()
  let closed = false

  const drop = (key: string): void => {
    kept.get(key)?.ending.abort()
    kept.delete(key)
  }
  const dropAll = (): void => {
    for (const key of kept.keys()) drop(key)
  }
  return {
    keep(key, open) {
      const known = kept.get(key)
      if (known !== undefined) return known.thing
      if (closed || signal?.aborted === true) throw sessionOver()
      if (kept.size === 0) signal?.addEventListener('abort', dropAll, { once: true })
      const [oldest] = kept.keys()
      if (kept.size >= maxKept && oldest !== undefined) drop(oldest)
      const ending = new AbortController()
      const thing = open({
        signal: ending.signal,
        track(work) {
          running.add(work)
          const settled = () => void running.delete(work)
          work.then(settled, settled)
          return work
        },
      })
      kept.set(key, { thing, ending })
      return thing
    },
    async close() {
      closed = true
      dropAll()
      await Promise.allSettled(running)
    },
  }
}

function sessionOver(): ToolFailure {
  return new ToolFailure({
    code: 'TOOL.ABORTED',
    reason: 'run_cancelled',
    message: 'The session ended before the program was started.',
  })
}
