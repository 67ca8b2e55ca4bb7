import { setTimeout as wait } from 'node:timers/promises'
import { systemErrorName } from '../files/file-failure.ts'
import { findTree, type ProcessTree } from '../files/find-tree.ts'

const killRounds = 20

/**
 * Ends all processes of a command: SIGTERM, `graceMs` to end by themselves, then SIGKILL until none is found. Returns the ids of
 * those that are still there; empty if the whole tree is gone. `saw` is told which were there before.
 */
export async function endTree(
  tree: ProcessTree,
  graceMs: number,
  saw: (pids: readonly number[]) => void = () => {},
): Promise<readonly number[]> {
  let alive = findTree(tree)
  if (alive.length === 0) return []
  saw(alive)
  signalAll(tree, alive, 'SIGTERM')
  const deadline = performance.now() + graceMs
  for (let pause = 2; alive.length > 0 && performance.now() < deadline; pause = Math.min(pause * 2, 50)) {
    await wait(Math.min(pause, Math.max(1, deadline - performance.now())))
    alive = findTree(tree)
  }
  for (let round = 0; alive.length > 0 && round < killRounds; round++) {
    signalAll(tree, alive, 'SIGKILL')
    await wait(Math.min(2 ** round, 50))
    alive = findTree(tree)
  }
  return alive.map(Math.abs)
}

function signalAll({ leader }: ProcessTree, pids: readonly number[], signal: NodeJS.Signals): void {
  // The group at once, where looking takes so long that more may have been started meanwhile.
  const group = process.platform === 'linux' ? [] : [-leader]
  for (const pid of [...group, ...pids]) {
    try {
      process.kill(pid, signal)
    } catch (error) {
      // Gone meanwhile, or owned by another user: the next look shows it.
      if (!['ESRCH', 'EPERM'].includes(systemErrorName(error) ?? '')) throw error
    }
  }
}
