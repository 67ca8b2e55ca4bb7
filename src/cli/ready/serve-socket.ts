import { randomBytes } from 'node:crypto'
import { chmodSync, lstatSync, renameSync, rmSync } from 'node:fs'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import type { Json } from '../../contract/base/json.ts'
import { isPlainObject } from '../../kit/json/is-plain-object.ts'
import { messageOf } from '../../kit/text/message-of.ts'
import { showLine } from '../base/show-safely.ts'
import { answerOverSocket } from '../hook/answer-over-socket.ts'
import { keepRuntimes } from '../hook/keep-runtimes.ts'
import type { Places } from '../setup/wire.ts'
import { handOver } from './hand-over.ts'
import { keepProcesses } from './keep-processes.ts'

/** The longest path of a Unix socket on all systems. */
const longestPath = 100

/**
 * Listens on `serve.sock` in the home folder, for its owner only: answers hooks of agents there, so that no process has to start for each, and hands
 * commands over to processes that are ready for them.
 */
export async function serveSocket({ home }: Pick<Places, 'home'>): Promise<{ close(): Promise<void> }> {
  const path = join(home, 'serve.sock')
  // Made under a name of its own, so that servers that start at the same moment do not take it from each other while they make it.
  const made = join(home, `serve-${process.pid}-${count++}.sock`)
  // Without a socket, or with that of another server, hooks are answered and commands run all the same.
  if (process.platform === 'win32' || Buffer.byteLength(made) > longestPath || (await isAnswered(path)))
    return noServer
  rmSync(made, { force: true })
  const tell = (error: unknown): void =>
    void process.stderr.write(`handrail: ${showLine(messageOf(error))}\n`)
  const runtimes = keepRuntimes({ tell })
  const processes = keepProcesses()
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => socket.destroy())
    meet(socket, { home, runtimes, processes }).catch(() => {
      // Who asked goes on alone then.
      socket.destroy()
    })
  })
  if (!(await listen(server, made))) return noServer
  const own = lstatSync(made).ino
  renameSync(made, path)
  return {
    async close() {
      server.close()
      if (lstatSync(path, { throwIfNoEntry: false })?.ino === own) rmSync(path, { force: true })
      processes.close()
      await runtimes.close()
    },
  }
}

const noServer = { close: () => Promise.resolve() }

/** Of the sockets that this process made. */
let count = 0

function isAnswered(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path)
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}

/** The folder lets in its owner only, and so does the socket before anything can connect. */
function listen(server: Server, path: string): Promise<boolean> {
  const before = process.umask(0o177)
  return new Promise((resolve) => {
    server.once('error', () => resolve(false))
    server.listen(path, () => {
      chmodSync(path, 0o600)
      resolve(true)
    })
    process.umask(before)
  })
}

interface Serving {
  readonly home: string
  readonly runtimes: ReturnType<typeof keepRuntimes>
  readonly processes: ReturnType<typeof keepProcesses>
}

/** Each says first what it asks for, in one line. It is told at once how it can prove who it is. */
async function meet(socket: Socket, { home, runtimes, processes }: Serving): Promise<void> {
  const proof = `serve-${randomBytes(16).toString('hex')}.proof`
  socket.write(`${proof}\n`)
  const pieces = socket[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>
  const { said, rest } = await readLine(pieces)
  if (!isPlainObject(said)) return void socket.destroy()
  if (said['asks'] === 'command') return handOver(said, { socket, processes, proof: join(home, proof) })
  const input = toInput(pieces, rest)
  const answer = await answerOverSocket(said, { home, input, withRuntime: runtimes.withRuntime })
  socket.end(JSON.stringify(answer))
}

const longestLine = 4 * 1024 * 1024

async function readLine(pieces: AsyncIterator<Uint8Array>): Promise<{ said?: Json; rest: Uint8Array }> {
  const read: Uint8Array[] = []
  let length = 0
  while (length < longestLine) {
    const { done, value } = await pieces.next()
    if (done === true) break
    read.push(value)
    length += value.length
    if (!value.includes(10)) continue
    const all = Buffer.concat(read)
    const end = all.indexOf(10)
    return { said: JSON.parse(all.toString('utf8', 0, end)), rest: all.subarray(end + 1) }
  }
  return { rest: Buffer.alloc(0) }
}

async function* toInput(pieces: AsyncIterator<Uint8Array>, rest: Uint8Array): AsyncGenerator<Uint8Array> {
  yield rest
  for (;;) {
    const { done, value } = await pieces.next()
    if (done === true) return
    yield value
  }
}
