import { endTree } from '../programs/end-tree.ts'
import { identifyTree } from '../files/find-tree.ts'
import type { TreeHold } from '../programs/run-tree.ts'
import type { Started } from '../programs/launcher/started.ts'

/** Hold of a sandbox and of all that runs in it. */
export interface GroupHold extends TreeHold {
  /** Whether the sandbox was made and its first process ran, known at the latest when all have ended. */
  readonly began: Promise<boolean>
}

/**
 * Takes hold of a sandbox that no namespace of processes holds: by its process group, and on Linux by the mark in the environment of
 * whatever left that.
 */
export function holdGroup(
  { pid, seen, pipes: [status] }: Started,
  how: { marker: string; graceMs: number },
): GroupHold {
  const tree = identifyTree({ pid, seen }, how.marker)
  const { promise: began, resolve } = Promise.withResolvers<boolean>()
  status?.once('data', () => resolve(true))
  status?.on('error', () => status.destroy())
  // One that says nothing may have ended before anybody listens.
  if (status === undefined || status.closed) resolve(false)
  else status.once('close', () => resolve(false))
  return {
    began,
    end: () => endTree(tree, how.graceMs),
  }
}
