import type { MemoryOptions } from '../../contract/services/memory.ts'

/** Why memory cannot be used; undefined if it can. */
export function findObstacle({ dir, mode, external }: MemoryOptions): string | undefined {
  if (mode === 'external')
    return external === undefined
      ? 'the mode of memory is external, and no program hands one in. Give memory { mode: "external", external }'
      : undefined
  return dir === undefined ? 'memory has no folder. Give memory { dir }' : undefined
}
