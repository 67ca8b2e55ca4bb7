import type { Worker } from 'node:worker_threads'
import type {
  IsolatedProgram,
  Isolates,
  ProgramCall,
  ProgramReply,
  ProgramState,
  RunningProgram,
} from '../../contract/services/isolates.ts'
import { leavesWhole, type FromThread, type ThreadReady, type ToThread } from './messages.ts'
import { startThread } from '../../kit/start-thread.ts'

/** Threads that are kept for the next program of their tenant. */
const mostIdle = 2

/** Milliseconds that a thread has to end a program that computed for too long by itself, before it is ended with it. */
const graceMs = 2_000

/** What a thread may take beside the memory of its programs. */
const heapMegabytes = 128

/** A thread that runs programs of one tenant, one at a time. */
interface Thread {
  readonly worker: Worker
  readonly tenant: string
  /** Whether its engine is there. */
  isReady: boolean
  /** Why it can run none any more. */
  broken: Error | undefined
  /** Who waits for what it says. */
  asking: Asking | undefined
}

interface Asking {
  hears(said: FromThread | ThreadReady): void
  /** It will say nothing any more. */
  loses(error: Error): void
}

/** Runs programs in threads, each in an engine of its own. The first program starts the first thread. */
export function createIsolates(): Isolates {
  const idle: Thread[] = []
  const all = new Set<Thread>()
  const drop = (thread: Thread): void => {
    thread.broken ??= new Error('The thread was ended.')
    all.delete(thread)
    const place = idle.indexOf(thread)
    if (place !== -1) idle.splice(place, 1)
    void thread.worker.terminate()
  }
  const take = (tenant: string): Thread => {
    const place = idle.findLastIndex((thread) => thread.tenant === tenant)
    const [kept] = place === -1 ? [] : idle.splice(place, 1)
    kept?.worker.ref()
    return kept ?? start(tenant)
  }
  const start = (tenant: string): Thread => {
    const worker = startWorker()
    const thread: Thread = { worker, tenant, isReady: false, broken: undefined, asking: undefined }
    all.add(thread)
    const fail = (error: Error): void => {
      thread.broken ??= error
      drop(thread)
      thread.asking?.loses(error)
    }
    worker.on('message', (said: FromThread | ThreadReady) => {
      if (said.type === 'ready') thread.isReady = true
      thread.asking?.hears(said)
    })
    worker.on('error', fail)
    worker.on('exit', () => fail(new Error('The thread of the program ended.')))
    return thread
  }
  const keep = (thread: Thread): void => {
    if (thread.broken !== undefined) return
    thread.worker.unref()
    idle.push(thread)
    const oldest = idle.length > mostIdle ? idle[0] : undefined
    if (oldest !== undefined) drop(oldest)
  }
  return {
    open: (program, { tenant, signal }) =>
      openProgram(program, { signal, take: () => take(tenant), keep, drop }),
    async close() {
      const threads = [...all]
      for (const thread of threads) drop(thread)
      await Promise.all(threads.map(({ worker }) => worker.terminate()))
    },
  }
}

function startWorker(): Worker {
  return startThread(findWorker(), {
    env: {},
    execArgv: ['--disable-warning=ExperimentalWarning'],
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: heapMegabytes, maxYoungGenerationSizeMb: 32 },
  })
}

interface ProgramPorts {
  readonly signal: AbortSignal
  readonly take: () => Thread
  readonly keep: (thread: Thread) => void
  readonly drop: (thread: Thread) => void
}

function openProgram(program: IsolatedProgram, { signal, take, keep, drop }: ProgramPorts): RunningProgram {
  let thread: Thread | undefined
  let leftMs = program.bounds.computeMs
  const end = (finish: (thread: Thread) => void): void => {
    if (thread !== undefined) finish(thread)
    thread = undefined
  }
  const onAbort = (): void => thread?.asking?.loses(new Error('The program was ended.'))
  signal.addEventListener('abort', onAbort)
  return {
    async next(replies?: readonly ProgramReply[]): Promise<ProgramState> {
      signal.throwIfAborted()
      thread ??= take()
      const message: ToThread =
        replies === undefined
          ? { type: 'start', program }
          : { type: 'replies', replies: JSON.stringify(replies) }
      try {
        const { computedMs, ...state } = await ask(thread, message, leftMs + graceMs)
        leftMs = program.bounds.computeMs - computedMs
        if (state.type === 'calls') return { type: 'calls', calls: readCalls(state.calls) }
        // What broke its engine, or filled it, leaves a thread that no program gets any more.
        end(leavesWhole(state) ? keep : drop)
        return state
      } catch (error) {
        end(drop)
        if (signal.aborted) throw signal.reason
        return toFailed(error, program)
      }
    },
    close() {
      signal.removeEventListener('abort', onAbort)
      end(drop)
    },
  }
}

function readCalls(text: string): ProgramCall[] {
  // The prelude put it together.
  const pairs: [name: string, input: string][] = JSON.parse(text)
  return pairs.map(([name, input]) => ({ name, input }))
}

/** Says this to a thread, and waits for what it says, no longer than so many milliseconds from when it can listen. */
function ask(thread: Thread, message: ToThread, leftMs: number): Promise<FromThread> {
  if (thread.broken !== undefined) return Promise.reject(thread.broken)
  return new Promise((resolve, reject) => {
    const loses = (error: Error): void => {
      settle()
      reject(error)
    }
    const tooLong = (): void => loses(new TooLong())
    let timer = setTimeout(tooLong, thread.isReady ? leftMs : startMs)
    const settle = (): void => {
      clearTimeout(timer)
      thread.asking = undefined
    }
    thread.asking = {
      loses,
      hears(said) {
        clearTimeout(timer)
        if (said.type === 'ready') {
          timer = setTimeout(tooLong, leftMs)
          return
        }
        settle()
        resolve(said)
      },
    }
    thread.worker.postMessage(message)
  })
}

/** Milliseconds that a thread may take until its engine is there, on a busy machine. */
const startMs = 30_000

class TooLong extends Error {}

function toFailed(error: unknown, { bounds }: IsolatedProgram): ProgramState {
  const isMemory = error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY'
  if (error instanceof TooLong)
    return {
      type: 'failed',
      fault: 'time',
      message: `The program did not end within ${bounds.computeMs} ms, and was ended.`,
      printed: '',
    }
  return {
    type: 'failed',
    fault: isMemory ? 'memory' : 'crashed',
    message: isMemory ? 'The program took more memory than it may.' : 'The thread of the program ended.',
    printed: '',
  }
}

/** Beside this file, or where the build puts it. */
function findWorker(): URL {
  const here = import.meta.url
  return new URL(here.endsWith('.ts') ? './isolate-worker.ts' : '../workers/isolate-worker.cjs', here)
}
