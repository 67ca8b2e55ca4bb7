import { getHeapSpaceStatistics } from 'node:v8'

/** Bytes of this process in memory, without the young generation of its heap: that one grows with garbage, to a bound of its own. */
export function memoryHeld(): number {
  const young = getHeapSpaceStatistics().filter(({ space_name: name }) => name.startsWith('new_'))
  return process.memoryUsage().rss - young.reduce((sum, { physical_space_size: size }) => sum + size, 0)
}
