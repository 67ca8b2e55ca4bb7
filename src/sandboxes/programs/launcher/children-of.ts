import { readFileSync, readdirSync } from 'node:fs'

/**
 * Ids of the processes that a process started, by whichever of its threads, and that it has not waited for. None of one that has ended.
 */
export function childrenOf(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((thread) => childrenOfThread(pid, thread))
  } catch {
    return []
  }
}

function childrenOfThread(pid: number, thread: string): number[] {
  try {
    const text = readFileSync(`/proc/${pid}/task/${thread}/children`, 'latin1')
    return text.split(' ').filter(Boolean).map(Number)
  } catch {
    return []
  }
}
