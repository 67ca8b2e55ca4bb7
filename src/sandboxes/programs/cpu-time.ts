import { readFileSync } from 'node:fs'

const msPerTick = 10

/**
 * CPU time of these processes, and of those that they waited for, in milliseconds (proc(5), fields 14 to 17). What none of them waited for, and
 * what has ended, is not in it.
 */
export function cpuMsOf(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + ticksOf(pid) * msPerTick, 0)
}

function ticksOf(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0)
  } catch {
    // It ended meanwhile.
    return 0
  }
}
