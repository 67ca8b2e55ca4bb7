import { readFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'

const everyMs = 5

/** Whether a process has ended, or does so within that time. One that its parent has not waited for yet has ended too. */
export async function isGone(pid: number, withinMs: number): Promise<boolean> {
  for (const deadline = performance.now() + withinMs; lives(pid); await wait(everyMs))
    if (performance.now() > deadline) return false
  return true
}

function lives(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) [ZX]/s.test(readFileSync(`/proc/${pid}/stat`, 'latin1'))
  } catch {
    return false
  }
}
