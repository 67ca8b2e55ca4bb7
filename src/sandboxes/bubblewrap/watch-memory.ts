import { readFileSync } from 'node:fs'

/** How often a command's memory is looked at. */
const everyMs = 200

/**
 * Ends the processes below a first process whenever all of them together hold more memory than the bound, shared memory too, which no
 * bound of a single process counts. What processes share counts once. Stop it with the command.
 */
export function watchMemory(first: number, maxBytes: number): { stop(): void } {
  const timer = setInterval(() => {
    const all = descendantsOf(first)
    // The quick look counts what processes share for each of them; only where that is too much is it worth the exact one.
    if (sum(all, roughBytes) > maxBytes && sum(all, exactBytes) > maxBytes) for (const pid of all) end(pid)
  }, everyMs)
  timer.unref()
  return { stop: () => clearInterval(timer) }
}

function descendantsOf(pid: number): number[] {
  const children = read(`/proc/${pid}/task/${pid}/children`)
    .split(' ')
    .filter((text) => text !== '')
    .map(Number)
  return children.flatMap((child) => [child, ...descendantsOf(child)])
}

function sum(pids: readonly number[], bytesOf: (pid: number) => number): number {
  return pids.reduce((total, pid) => total + bytesOf(pid), 0)
}

function roughBytes(pid: number): number {
  const status = read(`/proc/${pid}/status`)
  return kilobytes(status, 'RssAnon') + kilobytes(status, 'RssShmem')
}

function exactBytes(pid: number): number {
  const rollup = read(`/proc/${pid}/smaps_rollup`)
  return kilobytes(rollup, 'Pss_Anon') + kilobytes(rollup, 'Pss_Shmem')
}

function kilobytes(text: string, field: string): number {
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(text)?.[1] ?? 0) * 1024
}

/** Empty for a process that ended meanwhile. */
function read(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return ''
  }
}

function end(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended meanwhile, which is what was wanted.
  }
}
