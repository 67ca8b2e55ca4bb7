// The launcher: a process of its own, small, so that starting a program copies little. Handrail tells it what to start; a program's streams go
// straight to Handrail. It ends when Handrail does, and what it started ends with it.
import { isObject } from '../../../kit/json/is-object.ts'
import { spawn } from 'node:child_process'
import { readlinkSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { findTree, startOf } from '../../files/find-tree.ts'
import { childrenOf } from './children-of.ts'
import { closeInherited } from './close-inherited.ts'
import { killNow } from './kill-now.ts'
import { keyDigits, type Ask, type Greeting, type StartAsk, type Tell } from './launcher-words.ts'
import { meterChildren } from './meter-children.ts'
import { openDescriptors } from './start-directly.ts'
import type { Seen, StartRequest } from './started.ts'

interface Connection {
  readonly key: string
  readonly socket: Socket
}

/** Most programs need three, and those are made before anybody waits for them. */
const sparesKept = 4

/** How often what is left is looked for, once the process that could ask for it is gone. */
const killRounds = 50
const roundMs = 5

/** With the marks of what they start. */
const running = new Map<number, string | undefined>()
const spares: Promise<Connection>[] = []
let greeting: Greeting = { ask: 'greet', secret: '', socket: '' }
let connections = 0
let isOver = false

closeInherited()

process.on('message', (word: Ask) => {
  if (word.ask === 'greet') greeting = word
  else void start(word)
  refill()
})
process.once('disconnect', () => void end(0))
// Whatever fails here, nothing that was started outlives it.
process.once('uncaughtException', () => void end(1))

async function end(exitCode: number): Promise<void> {
  isOver = true
  await endPrograms().finally(() => process.exit(exitCode))
}

async function start({ id, request }: StartAsk): Promise<void> {
  const taken: Connection[] = []
  try {
    const { input = false, descriptors = [] } = request
    const needed = (input ? 3 : 2) + descriptors.filter((each) => each === 'pipe').length
    taken.push(...(await Promise.all(Array.from({ length: needed }, () => takeConnection()))))
    if (isOver) return
    const { pid, seen } = await spawnProgram(id, request, taken)
    tell({ tell: 'started', id, pid, seen, keys: taken.map(({ key }) => key) })
  } catch (error) {
    tell({ tell: 'failed', id, ...describe(error) })
  } finally {
    refill()
  }
}

/** Gives the program its streams; this process keeps none of them. */
async function spawnProgram(
  id: number,
  request: StartRequest,
  taken: readonly Connection[],
): Promise<{ pid: number; seen: Seen | undefined }> {
  const { executable, argv, cwd, env, identity, input = false } = request
  const { handed, close } = openDescriptors(request.descriptors ?? [])
  const streams = taken.map(({ socket }) => socket)
  try {
    const [output, errors, ...pipes] = input ? streams.slice(1) : streams
    const readCpuMs = request.metered === true ? meterChildren() : () => 0
    const child = spawn(executable, argv.slice(1), {
      argv0: argv[0] ?? executable,
      cwd,
      env,
      detached: true,
      ...identity,
      stdio: [
        (input ? streams[0] : undefined) ?? 'ignore',
        output ?? 'ignore',
        errors ?? 'ignore',
        ...handed.map((each) => (each === 'pipe' ? (pipes.shift() ?? 'ignore') : each)),
      ],
    })
    const { pid } = child
    if (pid === undefined)
      return await new Promise((_, reject) => {
        child.once('error', reject)
      })
    running.set(pid, request.marker)
    // Before this process waits for it, so that even one that has ended is seen.
    const seen =
      request.marker === undefined
        ? undefined
        : { startedAt: startOf(pid), outputs: [output, errors].flatMap(nameOf) }
    child.once('exit', (exitCode, signal) => {
      running.delete(pid)
      if (request.together === true) killNow(-pid)
      tell({ tell: 'ended', id, exitCode, signal, cpuMs: readCpuMs() })
    })
    return { pid, seen }
  } finally {
    close()
    for (const stream of streams) stream.destroy()
  }
}

/** As `/proc` names the socket, in this process and in those that have it from here. */
function nameOf(socket: Socket | undefined): string[] {
  const handle: unknown = socket && Reflect.get(socket, '_handle')
  const fd = isObject(handle) ? handle['fd'] : undefined
  return typeof fd === 'number' ? [readlinkSync(`/proc/self/fd/${fd}`)] : []
}

/** A spare may have been asked for when none could be accepted. */
function takeConnection(): Promise<Connection> {
  return spares.shift()?.catch(openConnection) ?? openConnection()
}

function refill(): void {
  while (!isOver && spares.length < sparesKept) {
    const spare = openConnection()
    spares.push(spare)
    // A caller that has taken it by then is told.
    spare.catch(() => void (spares.includes(spare) && spares.splice(spares.indexOf(spare), 1)))
  }
}

/** A connection that has been accepted: at one that was not, a program would write to no reader. */
function openConnection(): Promise<Connection> {
  const key = greeting.secret + String(++connections).padStart(keyDigits, '0')
  return new Promise((resolve, reject) => {
    const socket = connect(greeting.socket)
    const fail = () => reject(notAccepted())
    socket.on('error', fail)
    socket.once('close', fail)
    socket.once('data', () => {
      socket.pause()
      resolve({ key, socket })
    })
    socket.write(key, 'latin1')
  })
}

/** Handrail has no descriptor left for it, or is gone. */
function notAccepted(): Error {
  return Object.assign(new Error('EMFILE: the connection was not accepted'), { code: 'EMFILE' })
}

function describe(error: unknown): { code: string; message: string } {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return { code, message: error instanceof Error ? error.message : String(error) }
}

/** What cannot be told is not wanted any more. */
function tell(word: Tell): void {
  process.send?.(word, () => {})
}

/** Ends what runs and, where it is marked, what that started, until nothing is found. */
async function endPrograms(): Promise<void> {
  for (const pid of running.keys()) {
    // A sandbox on its way has left the group, and does not die with its parent yet.
    const children = childrenOf(pid)
    for (const each of [-pid, ...children]) killNow(each)
  }
  const marked = [...running].flatMap(([leader, marker]) =>
    marker === undefined ? [] : [{ leader, marker }],
  )
  const find = () => marked.flatMap((each) => findTree({ ...each, startedAt: undefined, outputs: [] }))
  for (let round = 0, found = find(); found.length > 0 && round < killRounds; round++, found = find()) {
    for (const pid of found) killNow(pid)
    await wait(roundMs)
  }
}
