import { fork, type ChildProcess } from 'node:child_process'
import { Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import { isPlainObject } from '../../kit/json/is-plain-object.ts'
import { ownFile } from '../../kit/own-file.ts'
import type { AskedCommand } from './asked-command.ts'

/** Processes that run commands, each one after the other. */
export interface KeptProcesses {
  /** One that is free for this command; undefined if none can be. */
  find(command: AskedCommand): Promise<ReadyProcess | undefined>
  /** Each ends with what it runs. */
  close(): void
}

/** A process that waits for a command. */
export interface ReadyProcess {
  /** Runs it for who is at the other end of this socket. */
  run(command: AskedCommand, socket: Socket): void
}

/** Most that there are at a time. */
const most = 4

/** One that waited for so long ends. */
const longestMs = 5 * 60_000

/** The same for one that waits beside others: commands that come together, come again soon. */
const longestBesideMs = 10_000

interface Kept {
  readonly child: ChildProcess
  readonly place: string
  timer: NodeJS.Timeout | undefined
}

/** Keeps processes from the first command on. */
export function keepProcesses(): KeptProcesses {
  /** Those that wait, the one that worked last at the end: it has most of what the next command needs. */
  const free: Kept[] = []
  const all = new Set<ChildProcess>()
  /** Places in which no process can be from here. */
  const foreign = new Set<string>()
  let isClosed = false
  const remove = (one: Kept): void => {
    const at = free.indexOf(one)
    if (at >= 0) free.splice(at, 1)
    clearTimeout(one.timer)
  }
  const end = (one: Kept): void => {
    remove(one)
    if (one.child.connected) one.child.disconnect()
  }
  const rest = (one: Kept): void => {
    if (isClosed) return end(one)
    one.timer = setTimeout(end, free.length > 0 ? longestBesideMs : longestMs, one).unref()
    free.push(one)
  }
  const take = (place: string): Kept | undefined => {
    const found = free.findLast((one) => one.place === place)
    if (found !== undefined) remove(found)
    return found
  }
  const start = async ({ place, started }: AskedCommand): Promise<Kept | undefined> => {
    if (all.size >= most) {
      const [oldest] = free
      if (oldest === undefined) return undefined
      end(oldest)
    }
    const child = startProcess(started)
    all.add(child)
    child.once('exit', () => all.delete(child))
    const found = await hearPlace(child)
    if (found === undefined) return undefined
    const one: Kept = { child, place: found, timer: undefined }
    child.once('exit', () => remove(one))
    child.on('message', () => rest(one))
    if (found === place && !isClosed) return one
    if (foreign.size < mostForeign) foreign.add(place)
    end(one)
    return undefined
  }
  return {
    async find(command) {
      if (isClosed || foreign.has(command.place)) return undefined
      const one = take(command.place) ?? (await start(command))
      return one && { run: (asked, socket) => hand(one.child, { asked, socket }) }
    },
    close() {
      isClosed = true
      for (const one of free.toReversed()) end(one)
    },
  }
}

const mostForeign = 100

/**
 * A process that ended meanwhile takes nothing: who asked goes on alone then. Until the process has the socket, this one may read what comes over it. Node
 * sends the second message only after that, and the process says nothing before, so that nothing comes.
 */
function hand(child: ChildProcess, { asked, socket }: { asked: AskedCommand; socket: Socket }): void {
  child.send(asked, socket, (error) => {
    if (error !== null) socket.destroy()
  })
  child.send('begin', () => {})
}

/** In a session of its own, so that it has no terminal but that of who asks. */
function startProcess(env: AskedCommand['started']): ChildProcess {
  const child = fork(fileURLToPath(ownFile('bin/ready/process.cjs')), [], {
    cwd: '/',
    env: { ...env },
    execArgv: [],
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
  child.on('error', () => {})
  child.unref()
  child.channel?.unref()
  // Not handed on, as who waits for the end of the server waits for its streams.
  child.stderr?.pipe(process.stderr, { end: false })
  if (child.stderr instanceof Socket) child.stderr.unref()
  return child
}

/** Where it says that it is, once it is ready; undefined if it ends before that. */
function hearPlace(child: ChildProcess): Promise<string | undefined> {
  return new Promise((resolve) => {
    child.once('error', () => resolve(undefined))
    child.once('exit', () => resolve(undefined))
    child.once('message', (said) =>
      resolve(isPlainObject(said) && typeof said['place'] === 'string' ? said['place'] : undefined),
    )
  })
}
