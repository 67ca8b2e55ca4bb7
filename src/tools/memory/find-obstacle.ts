import type { MemoryOptions } from '../../contract/services/memory.ts'

/** Why memory cannot be used; undefined if it can. */
export function findObstacle({ dir, mode, external }: MemoryOptions): string | undefined {
  if (mode === 'external')
    return external === undefined
      ? 'the mode of memory is external, and there is none: a program hands it in, as createRuntime({ memory: { mode: "external", external } }), and no file can name one. To keep facts in files, take "memory.mode" out of config.json'
      : undefined
  return dir === undefined ? 'memory has no folder. Give memory { dir }' : undefined
}
