import { readdirSync, readFileSync } from 'node:fs'

/** Ids of the live processes of this machine whose arguments or environment carry a text, in whatever namespace they are. */
export function findProcesses(text: string): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && pid !== process.pid)
    .filter((pid) => ['cmdline', 'environ'].some((file) => read(pid, file).includes(text)))
    .filter((pid) => !/^\d+ \(.*\) [ZX]/s.test(read(pid, 'stat')))
}

/** Empty for a process that ended meanwhile, or that belongs to somebody else. */
function read(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1')
  } catch {
    return ''
  }
}
