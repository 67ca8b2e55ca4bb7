import { execFileSync } from 'node:child_process'

/** What a process has in memory, shared code and all, as `ps` counts it. */
export function residentMb(pid: number): number {
  return (Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' })) * 1024) / 1e6
}
