import type { Worker } from 'node:worker_threads'
import { noSandbox } from '../bubblewrap/sandbox-fault.ts'
import type { SandboxRules } from './sandbox-rules.ts'
import type { WriterAsk, WriterWords } from './writer-words.ts'
import { startThread } from '../../kit/start-thread.ts'

/** Has sandboxes written in a thread of its own. Close it. */
export interface SandboxWriter {
  /** What the library lets every command write, unasked. Fails with `SANDBOX.UNAVAILABLE`. */
  unasked(): Promise<readonly string[]>
  /** The arguments of the program that makes a sandbox of these rules. Fails with `SANDBOX.UNAVAILABLE`. */
  write(rules: SandboxRules): Promise<readonly string[]>
  /** What was written last is used no longer, once for each: clears away what was made for it. */
  end(): Promise<void>
  close(): Promise<void>
}

interface Pen {
  readonly worker: Worker
  readonly ready: Promise<readonly string[]>
  readonly waiting: Map<number, PromiseWithResolvers<readonly string[]>>
  /** How many wait for it. */
  awaited: number
}

/**
 * A thread that starts with the first sandbox. The library looks for programs along PATH and takes variables from the environment: there it
 * finds the system's programs only, and no variable, so that nothing that a command left in a folder of PATH runs in its place. And
 * nothing waits while it does.
 */
export function createSandboxWriter(): SandboxWriter {
  let pen: Pen | undefined
  let asked = 0
  const open = () => (pen ??= openPen(() => (pen = undefined)))
  const ask = (asking: Pen, toWord: (id: number) => WriterAsk) =>
    awaited(asking, async ({ worker, ready, waiting }) => {
      await ready
      const id = ++asked
      const answer = Promise.withResolvers<readonly string[]>()
      waiting.set(id, answer)
      worker.postMessage(toWord(id))
      return answer.promise
    })
  return {
    unasked: () => awaited(open(), ({ ready }) => ready),
    write: (rules) => ask(open(), (id) => ({ ask: 'write', id, rules })),
    async end() {
      // A thread that has ended leaves what it made.
      if (pen !== undefined) await ask(pen, (id) => ({ ask: 'end', id })).catch(() => {})
    },
    async close() {
      await pen?.worker.terminate()
    },
  }
}

/** Keeps the process going as long as a caller waits for the thread, and no longer. */
async function awaited<T>(pen: Pen, work: (pen: Pen) => Promise<T>): Promise<T> {
  if (pen.awaited++ === 0) pen.worker.ref()
  try {
    return await work(pen)
  } finally {
    if (--pen.awaited === 0) pen.worker.unref()
  }
}

const systemPath = '/usr/bin:/bin:/usr/sbin:/sbin'

function openPen(onEnd: () => void): Pen {
  const worker = startThread(findWorker(), {
    env: { PATH: systemPath },
    execArgv: [],
    stdout: true,
    stderr: true,
  })
  worker.unref()
  const waiting: Pen['waiting'] = new Map()
  const { promise: ready, resolve, reject } = Promise.withResolvers<readonly string[]>()
  worker.on('message', (words: WriterWords) => {
    if (words.says === 'ready') return resolve(words.unasked)
    if (words.says === 'written') waiting.get(words.id)?.resolve(words.sandbox)
    else if (words.says === 'ended') waiting.get(words.id)?.resolve([])
    else waiting.get(words.id)?.reject(notWritten(words.message))
    waiting.delete(words.id)
  })
  const fail = (why: string) => {
    onEnd()
    reject(notWritten(why))
    for (const answer of waiting.values()) answer.reject(notWritten(why))
    waiting.clear()
  }
  worker.once('error', (error) => fail(String(error)))
  worker.once('exit', () => fail('its thread has ended'))
  return { worker, ready, waiting, awaited: 0 }
}

function notWritten(why: string) {
  return noSandbox('no_backend', `sandbox-runtime wrote no sandbox: ${why}.`)
}

/** Beside this file, or where the build puts it. */
function findWorker(): URL {
  const here = import.meta.url
  return new URL(here.endsWith('.ts') ? './writer-worker.ts' : '../workers/sandbox-writer.cjs', here)
}
