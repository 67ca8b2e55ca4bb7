import { readFileSync } from 'node:fs'
import { descendantsOf } from '../programs/launcher/descendants-of.ts'
import { killNow } from '../programs/launcher/kill-now.ts'

/** How long may pass between two looks at a command's memory, and before the first one. */
const longestMs = 200
const shortestMs = 10
const firstMs = 25

/** What is told of the processes of a command while they are watched. */
export interface MemoryWatch {
  /** Looks at once. */
  look(): void
  stop(): void
}

/**
 * Ends the processes below a first process whenever all of them together hold more memory than the bound, shared memory too, which no
 * bound of a single process counts. What processes share counts once. Looks more often while their memory grows towards the bound, and names
 * at each look the processes that it saw. Stop it with the command.
 */
export function watchMemory(
  first: number,
  maxBytes: number,
  saw: (pids: readonly number[]) => void,
): MemoryWatch {
  let last = { bytes: 0, at: performance.now(), pauseMs: firstMs }
  const look = () => {
    clearTimeout(timer)
    const all = descendantsOf(first)
    saw(all)
    // The quick look counts what processes share for each of them; only if that is too much is it worth the exact one.
    const rough = sum(all, roughBytes)
    const bytes = rough > maxBytes ? sum(all, exactBytes) : rough
    if (bytes > maxBytes) for (const pid of all) killNow(pid)
    const at = performance.now()
    const grown = { bytes: bytes - last.bytes, ms: at - last.at }
    last = { bytes, at, pauseMs: nextPauseMs(last.pauseMs, { left: maxBytes - bytes, grown }) }
    timer = setTimeout(look, last.pauseMs).unref()
  }
  let timer = setTimeout(look, firstMs).unref()
  return { look, stop: () => clearTimeout(timer) }
}

/** When to look again: at half of the time in which what is left would be used up, and at most twice as late as the time before. */
export function nextPauseMs(
  pauseMs: number,
  { left, grown }: { left: number; grown: { bytes: number; ms: number } },
): number {
  const untilFullMs = grown.bytes > 0 ? (left / grown.bytes) * grown.ms : Infinity
  return Math.max(shortestMs, Math.min(longestMs, pauseMs * 2, untilFullMs / 2))
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
