import { readFileSync } from 'node:fs'

/** How far the system's count, of which there is one for the process, has been told. */
let toldMs = 0

/**
 * Starts to look at the CPU time of programs. Call what it returns when one has ended: that returns the time of the programs of this
 * process that ended since the last look of any caller, in milliseconds. Linux counts it in hundredths of a second; elsewhere
 * it is 0. A program that ends unmetered in the meantime is counted with the next one.
 */
export function meterChildren(): () => number {
  toldMs = readChildrenMs() ?? toldMs
  return () => {
    const nowMs = readChildrenMs() ?? toldMs
    const cpuMs = nowMs - toldMs
    toldMs = nowMs
    return cpuMs
  }
}

const msPerTick = 10

/** User and system time of all programs that this process has waited for, and of all that those waited for (proc(5), fields 16 and 17). */
function readChildrenMs(): number | undefined {
  try {
    const stat = readFileSync('/proc/self/stat', 'latin1')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return (Number(fields[13]) + Number(fields[14])) * msPerTick
  } catch {
    return undefined
  }
}
