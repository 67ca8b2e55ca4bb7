import { createResolver, type Resolve } from '../base/references.ts'

/** Keeps track of what references name, and of which of it needs a definition. */
export interface Definitions {
  readonly resolve: Resolve
  /** The reference to use for this target; undefined if it can be written out in place. */
  nameOf(target: unknown): string | undefined
  /** Says that a target is being written out, until `leave`. */
  enter(target: unknown): void
  leave(): void
  /** The targets that need a definition. Grows while it is walked. */
  wanted(): Iterable<{ name: string; target: unknown }>
}

/** Definitions of the schema `root`. Without `writeOut`, every target gets one. */
export function createDefinitions(root: unknown, writeOut: boolean): Definitions {
  const resolve = createResolver(root)
  const open: unknown[] = [root]
  const names = new Map<unknown, string>()
  const wanted: { name: string; target: unknown }[] = []
  return {
    resolve,
    nameOf(target) {
      if (target === root) return '#'
      const isRecursive = open.includes(target)
      if (!names.has(target) && (isRecursive || !writeOut)) {
        const name = `definition${names.size + 1}`
        names.set(target, name)
        wanted.push({ name, target })
      }
      const name = names.get(target)
      return name === undefined ? undefined : `#/$defs/${name}`
    },
    enter: (target) => void open.push(target),
    leave: () => void open.pop(),
    wanted: () => wanted,
  }
}
