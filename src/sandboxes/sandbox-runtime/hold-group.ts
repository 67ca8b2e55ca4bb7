import { endTree } from '../host/end-tree.ts'
import { identifyTree } from '../host/find-tree.ts'
import type { TreeHold } from '../host/run-tree.ts'
import type { Started } from '../launcher/started.ts'

/** Hold of a sandbox and of all that runs in it. */
export interface GroupHold extends TreeHold {
  /** Whether the sandbox was made and its first process ran, known when the program has ended. */
  readonly began: () => boolean
}

/**
 * Takes hold of a sandbox that no namespace of processes holds: by its process group, and on Linux by the mark in the environment of
 * whatever left that.
 */
export function holdGroup(
  { pid, pipes: [status] }: Started,
  how: { marker: string; graceMs: number },
): GroupHold {
  const tree = identifyTree(pid, how.marker)
  let began = false
  if (status !== undefined) {
    status.once('data', () => (began = true))
    status.on('error', () => status.destroy())
  }
  return {
    began: () => began,
    end: () => endTree(tree, how.graceMs),
  }
}
