import { readFileSync } from 'node:fs'

/**
 * When a process started, as text that no other process with the same id has: the boot and the clock tick. Empty if the
 * system does not tell (only Linux does) or the process is gone.
 */
export function processStart(pid: number): string {
  const stat = readProc(`/proc/${pid}/stat`)
  const boot = readProc('/proc/sys/kernel/random/boot_id')
  if (stat === undefined || boot === undefined) return ''
  const { state, startTick } = parseStat(stat)
  // A zombie runs nothing any more; only its parent has not asked for its exit code.
  return state === 'Z' || state === 'X' ? '' : `${boot.trim()}:${startTick}`
}

/** Whether the process with this id that started then still lives. Another user's process counts too. */
export function processLives(pid: number, started: string): boolean {
  try {
    process.kill(pid, 0)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ESRCH') return false
  }
  return started === '' || processStart(pid) === started
}

/** The program's name, the second field, is in parentheses and may hold spaces and parentheses itself. */
function parseStat(stat: string): { state: string; startTick: string } {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return { state: fields[0] ?? '', startTick: fields[19] ?? '' }
}

function readProc(path: string): string | undefined {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return undefined
  }
}
