import { readFileSync } from 'node:fs'

/** Ids of the processes that a process started and that it has not waited for. None of one that has ended. */
export function childrenOf(pid: number): number[] {
  try {
    const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1')
    return text.split(' ').filter(Boolean).map(Number)
  } catch {
    return []
  }
}
