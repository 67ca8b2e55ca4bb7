import { setTimeout as wait } from 'node:timers/promises'
import { Readable } from 'node:stream'
import type { TreeHold } from '../host/run-tree.ts'
import type { Started } from '../host/start-program.ts'
import { watchMemory } from './watch-memory.ts'

/** Hold of a running sandbox. */
export interface SandboxHold extends TreeHold {
  /** Whether the sandbox was made and its first process started, known when bwrap has ended. */
  readonly began: Promise<boolean>
}

/** How long bwrap may take to say who the first process is, and all processes to be gone once that one was ended. */
const introductionMs = 50
const endingMs = 2_000

/**
 * Takes hold of a sandbox by what bwrap says of it at descriptor 4. To end it is to end its first process: the kernel ends all
 * others with it, and bwrap, which waits for that one, ends when none is left. Until then all its processes together are held to the
 * memory.
 */
export function holdSandbox({ child, pid }: Started, memoryBytes: number): SandboxHold {
  const status = child.stdio[4]
  const { promise: ended, resolve } = Promise.withResolvers<void>()
  const { promise: introduced, resolve: introduce } = Promise.withResolvers<void>()
  let said = ''
  let memory: ReturnType<typeof watchMemory> | undefined
  if (status instanceof Readable) {
    status.on('data', (chunk: Buffer) => {
      said += chunk.toString()
      const first = firstPid(said)
      if (first === undefined || memory !== undefined) return
      memory = watchMemory(first, memoryBytes)
      introduce()
    })
    status.on('error', () => status.destroy())
    status.once('close', () => {
      memory?.stop()
      resolve()
    })
  } else resolve()
  const exited = new Promise<boolean>((gone) => child.once('exit', () => gone(true)))
  return {
    // The exit code is told only of a program that was started.
    began: ended.then(() => said.includes('"exit-code"')),
    async end() {
      if (child.exitCode !== null || child.signalCode !== null) return []
      await Promise.race([introduced, exited, wait(introductionMs)])
      kill(firstPid(said) ?? pid)
      if (await Promise.race([exited, wait(endingMs, false)])) return []
      kill(pid)
      return [firstPid(said) ?? pid]
    },
  }
}

function firstPid(said: string): number | undefined {
  const found = /"child-pid": (\d+)/.exec(said)?.[1]
  return found === undefined ? undefined : Number(found)
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended meanwhile, which is what was wanted.
  }
}
