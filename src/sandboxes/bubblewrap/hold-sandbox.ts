import type { Readable } from 'node:stream'
import { withinMs } from '../../kit/time/within-ms.ts'
import type { TreeHold } from '../programs/run-tree.ts'
import { setTimeout as wait } from 'node:timers/promises'
import { cpuMsOf } from '../programs/cpu-time.ts'
import { childrenOf } from '../programs/launcher/children-of.ts'
import { isGone } from '../programs/launcher/is-gone.ts'
import { killNow } from '../programs/launcher/kill-now.ts'
import type { Started } from '../programs/launcher/started.ts'
import { freezeTree, isStill, signal } from './freeze-tree.ts'
import { watchMemory, type MemoryWatch } from './watch-memory.ts'

/** Hold of a running sandbox. */
export interface SandboxHold extends TreeHold {
  /** Whether the sandbox was made and its first process started, known when bwrap has ended. */
  readonly made: Promise<boolean>
  readonly begun: Promise<boolean>
  /** Lets all its processes stand still. Returns what lets them go on; undefined if they cannot be stopped now, or there are none. */
  freeze(): Promise<(() => void) | undefined>
}

/** How long bwrap may take to come to a stand, and all processes to be gone once the first one was ended. */
const endingMs = 2_000

/**
 * Takes hold of a sandbox by what bwrap says of it at the first of its pipes; at the second the first process says that the program
 * begins. To end it is to end its first process: the kernel ends all
 * others with it, and bwrap, which waits for that one, ends when none is left. Until then all its processes together are held to the
 * memory. What the kernel ends so, nothing waits for, so that its CPU time is what was seen of it.
 */
export function holdSandbox(
  { pid, pipes: [status, word], exited, exit }: Started,
  { memoryBytes, metered }: { memoryBytes: number; metered: boolean },
): SandboxHold {
  const { promise: ended, resolve } = Promise.withResolvers<void>()
  const { promise: begun, resolve: begin } = Promise.withResolvers<boolean>()
  let said = ''
  let memory: MemoryWatch | undefined
  let seenMs = 0
  word?.once('data', () => begin(true))
  // It closes behind bwrap, so that what was said has come by then.
  onceClosed(word, () => begin(false))
  word?.on('error', () => word.destroy())
  status?.on('data', (chunk: Buffer) => {
    said += chunk.toString()
    const first = firstPid(said)
    if (first === undefined || memory !== undefined) return
    memory = watchMemory(first, memoryBytes, (pids) => {
      if (metered) seenMs = Math.max(seenMs, cpuMsOf([first, ...pids]))
    })
  })
  status?.on('error', () => status.destroy())
  onceClosed(status, () => {
    memory?.stop()
    resolve()
  })
  /** When no process waits for bwrap any more, the end of its first process alone shows that none is left. */
  const endLost = async (first: number) => {
    if (exit()?.lost !== true) return []
    killNow(pid)
    return (await isGone(first, endingMs)) ? [] : [first]
  }
  return {
    // The exit code is told only of a process that was started.
    made: ended.then(() => said.includes('"exit-code"')),
    begun,
    cpuMs: (waitedMs) => Math.max(waitedMs, seenMs),
    async freeze() {
      const first = firstPid(said)
      return first === undefined || exit() !== undefined ? undefined : await freezeTree(first)
    },
    async end() {
      if (exit()?.lost === false) return []
      const first = firstPid(said) ?? (await findFirst(pid, () => exit() !== undefined)) ?? pid
      if (metered) memory?.look()
      killNow(first)
      signal(pid, 'SIGCONT')
      if (await withinMs(exited, endingMs)) return await endLost(first)
      killNow(pid)
      return [first]
    },
  }
}

/**
 * The first process of a bwrap that has not said who that is. It stands still from then on, as it could start that one meanwhile, which would
 * not end with it: that one dies with its parent only a while later.
 */
async function findFirst(pid: number, hasEnded: () => boolean): Promise<number | undefined> {
  signal(pid, 'SIGSTOP')
  for (const deadline = performance.now() + endingMs; !isStill(pid) && !hasEnded(); await wait(1))
    if (performance.now() > deadline) break
  return childrenOf(pid)[0]
}

/** A program that says nothing may have ended before anybody listens. */
function onceClosed(stream: Readable | undefined, then: () => void): void {
  if (stream === undefined || stream.closed) then()
  else stream.once('close', then)
}

function firstPid(said: string): number | undefined {
  const found = /"child-pid": (\d+)/.exec(said)?.[1]
  return found === undefined ? undefined : Number(found)
}
