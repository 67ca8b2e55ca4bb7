import type { Socket } from 'node:net'
import { launcherLost } from './launcher-lost.ts'
import type { Ask, Tell } from './launcher-words.ts'
import type { Exit, Start, StartRequest, Started } from './started.ts'

/** The programs of one launcher, from what it is asked to what it tells of them. */
export interface LaunchedPrograms {
  readonly start: Start
  take(word: Tell): void
  /** The launcher is gone. */
  lose(): void
}

/** What a launcher is reached by. */
interface Line {
  ask(word: Ask): void
  stream(key: string): Promise<Socket>
  /** Told when the first program is asked for, and when the last one has ended. */
  onBusy(busy: boolean): void
}

type Begun = Extract<Tell, { tell: 'started' }>

interface Entry {
  readonly begin: (word: Begun) => void
  readonly fail: (why: Error) => void
  readonly end: (exit: Exit) => void
}

/** Follows the programs of a launcher. */
export function followPrograms(line: Line): LaunchedPrograms {
  const entries = new Map<number, Entry>()
  let lastId = 0
  let starting = 0
  const isBusy = () => starting + entries.size > 0
  const remove = (id: number) => {
    if (entries.delete(id) && !isBusy()) line.onBusy(false)
  }
  const begin = async (request: StartRequest, id: number): Promise<Started> => {
    const { promise: begun, resolve: tellBegun, reject: fail } = Promise.withResolvers<Begun>()
    const { promise: exited, resolve: end } = Promise.withResolvers<Exit>()
    entries.set(id, { begin: tellBegun, fail, end })
    line.ask({ ask: 'start', id, request: withoutSelf(request) })
    const { pid, seen, keys } = await begun
    const streams = await takeAll(keys, line)
    return toStarted({ pid, seen, streams, exited, input: request.input === true, forget: () => remove(id) })
  }
  return {
    async start(request) {
      if (!isBusy()) line.onBusy(true)
      // A quick program may have ended before its streams are there, which are waited for as well.
      starting++
      try {
        return await begin(request, ++lastId)
      } finally {
        starting--
        if (!isBusy()) line.onBusy(false)
      }
    },
    take(word) {
      const entry = entries.get(word.id)
      if (word.tell === 'started') entry?.begin(word)
      else remove(word.id)
      if (word.tell === 'failed') entry?.fail(Object.assign(new Error(word.message), { code: word.code }))
      if (word.tell === 'ended') {
        const { exitCode, signal, cpuMs } = word
        entry?.end({ exitCode, signal, cpuMs, lost: false })
      }
    },
    lose() {
      for (const { fail, end } of entries.values()) {
        fail(launcherLost())
        end({ exitCode: null, signal: null, cpuMs: 0, lost: true })
      }
      entries.clear()
    },
  }
}

/** Where what this process calls its own is found by another one. */
function withoutSelf(request: StartRequest): StartRequest {
  const { descriptors = [] } = request
  return {
    ...request,
    cwd: fromOutside(request.cwd),
    descriptors: descriptors.map((each) => {
      if (each === 'pipe') return each
      return 'file' in each ? { file: fromOutside(each.file) } : { place: fromOutside(each.place) }
    }),
  }
}

function fromOutside(path: string): string {
  return path.replace(/^\/proc\/self\//, `/proc/${process.pid}/`)
}

async function takeAll(keys: readonly string[], line: Line): Promise<Socket[]> {
  const streams = await Promise.all(keys.map((key) => line.stream(key)))
  for (const stream of streams) stream.ref()
  return streams
}

interface Parts {
  pid: number
  seen: Started['seen']
  streams: readonly Socket[]
  exited: Promise<Exit>
  input: boolean
  forget: () => void
}

function toStarted({ pid, seen, streams, exited, input, forget }: Parts): Started {
  const stdin = input ? streams[0] : undefined
  const [stdout, stderr, ...pipes] = input ? streams.slice(1) : streams
  if (stdout === undefined || stderr === undefined)
    throw new Error(`Process ${pid} was started without its output streams.`)
  // Nothing comes from there but its end, which is to be seen.
  stdin?.resume()
  let exit: Exit | undefined
  void exited.then((how) => (exit = how))
  return {
    pid,
    seen,
    stdin,
    stdout,
    stderr,
    pipes,
    exited,
    exit: () => exit,
    release() {
      for (const stream of streams) stream.destroy()
      forget()
    },
  }
}
