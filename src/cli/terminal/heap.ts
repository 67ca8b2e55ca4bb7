import { PerformanceObserver } from 'node:perf_hooks'
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Both halves together. With less, calls take longer; with more, they are no faster. */
const enoughBytes = 16 * 1024 * 1024

/**
 * Keeps V8 from making more room for young objects. It makes ever more while much is loaded that stays, such as thousands of tools, and
 * while many calls are in flight, and never returns it: up to 130 MB, and as much again around it.
 */
export function keepYoungGeneration(): void {
  setFlagsFromString('--semi-space-growth-factor=1')
}

/** Lets it make room until there is enough. */
export function growYoungGeneration(): void {
  setFlagsFromString('--semi-space-growth-factor=2')
  const observer = new PerformanceObserver(() => {
    const young = getHeapSpaceStatistics().find((space) => space.space_name === 'new_space')
    if ((young?.space_size ?? 0) < enoughBytes) return
    keepYoungGeneration()
    observer.disconnect()
  })
  observer.observe({ entryTypes: ['gc'] })
}

/** Collects what was left behind until now. V8 would do so while the first clients wait, and hold what is free by then. */
export function collectGarbage(): void {
  // Contexts of programs that are made later have nothing of it.
  setFlagsFromString('--expose-gc')
  runInNewContext('gc()')
  setFlagsFromString('--no-expose-gc')
}
