import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { descendantsOf } from '../programs/launcher/descendants-of.ts'

/** How often it is looked whether all stand still, a millisecond apart. */
const mostLooks = 60

/**
 * Lets the first process of a sandbox and all below it stand still: once all of them do, none is left that could start another one, or go on. Returns what
 * lets those go on that ran before; undefined if they do not come to stand in time, as one that waits for a slow disk, and go on.
 */
export async function freezeTree(first: number): Promise<(() => void) | undefined> {
  const frozen = new Set<number>()
  // Who waits for another one goes on after it, so that no shell sees a child that was stopped.
  const thaw = () => {
    for (const pid of [...frozen].toReversed()) signal(pid, 'SIGCONT')
  }
  for (let looks = 0; looks < mostLooks; looks++) {
    const moving = [first, ...descendantsOf(first)].filter((pid) => !isStill(pid))
    if (moving.length === 0) return thaw
    for (const pid of moving) {
      if (frozen.has(pid)) continue
      frozen.add(pid)
      signal(pid, 'SIGSTOP')
    }
    await wait(1)
  }
  thaw()
  return undefined
}

/** Whether no thread of a process runs: it was stopped, or has ended. */
export function isStill(pid: number): boolean {
  try {
    return readdirSync(`/proc/${pid}/task`).every((thread) => {
      const stat = readFileSync(`/proc/${pid}/task/${thread}/stat`, 'latin1')
      return /^[TtZX]/.test(stat.slice(stat.lastIndexOf(')') + 2))
    })
  } catch {
    // It ended meanwhile, so the next look does not find it. This one may have missed what it started.
    return false
  }
}

/** To a process that has ended meanwhile it does nothing. */
export function signal(pid: number, name: 'SIGSTOP' | 'SIGCONT'): void {
  try {
    process.kill(pid, name)
  } catch {
    // It has ended meanwhile.
  }
}
