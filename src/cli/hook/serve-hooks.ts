import { chmodSync, lstatSync, renameSync, rmSync } from 'node:fs'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Json } from '../../contract/base/json.ts'
import { isPlainObject } from '../../kit/json/is-plain-object.ts'
import { messageOf } from '../../kit/text/message-of.ts'
import { showLine } from '../base/show-safely.ts'
import type { Places } from '../setup/wire.ts'
import { hookAgents } from './agents.ts'
import { keepRuntimes } from './keep-runtimes.ts'
import { answerHook } from './run-hook.ts'
import type { WithRuntime } from './with-own-runtime.ts'

/** The form of what goes over the socket. A client of another form decides alone. */
const form = 1

/** The longest path of a Unix socket on all systems. */
const longestPath = 100

/** Answers hooks of agents over `hooks.sock` in the home folder, for its owner only, so that no process has to start for each. */
export async function serveHooks({ home }: Pick<Places, 'home'>): Promise<{ close(): Promise<void> }> {
  const path = join(home, 'hooks.sock')
  // Made under a name of its own, so that servers that start at the same moment do not take it from each other while they make it.
  const made = join(home, `hooks-${process.pid}-${count++}.sock`)
  // Without a socket, or with that of another server, each hook is answered all the same.
  if (process.platform === 'win32' || Buffer.byteLength(made) > longestPath || (await isAnswered(path)))
    return noServer
  rmSync(made, { force: true })
  const runtimes = keepRuntimes((error) => process.stderr.write(`handrail: ${showLine(messageOf(error))}\n`))
  const { withRuntime } = runtimes
  const server = createServer(
    { allowHalfOpen: true },
    (socket) => void serveOne(socket, { home, withRuntime }),
  )
  if (!(await listen(server, made))) return noServer
  const own = lstatSync(made).ino
  renameSync(made, path)
  return {
    async close() {
      server.close()
      if (lstatSync(path, { throwIfNoEntry: false })?.ino === own) rmSync(path, { force: true })
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

/** What a client says before the message of the agent, in one line. */
interface Greeting {
  readonly argv: readonly string[]
  readonly cwd: string
  readonly env: { readonly [name: string]: string }
}

/** What a server answers with. */
interface Serving {
  readonly home: string
  readonly withRuntime: WithRuntime
}

async function serveOne(socket: Socket, serving: Serving): Promise<void> {
  socket.on('error', () => socket.destroy())
  try {
    const pieces = socket[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>
    const { greeting, rest } = await readGreeting(pieces)
    socket.end(
      JSON.stringify(greeting === undefined ? {} : await answerOne(greeting, { ...serving, pieces, rest })),
    )
  } catch {
    // The client decides alone then.
    socket.destroy()
  }
}

const longestGreeting = 64 * 1024

async function readGreeting(
  pieces: AsyncIterator<Uint8Array>,
): Promise<{ greeting: Greeting | undefined; rest: Uint8Array }> {
  let read: Buffer = Buffer.alloc(0)
  while (!read.includes(10) && read.length < longestGreeting) {
    const { done, value } = await pieces.next()
    if (done === true) break
    read = Buffer.concat([read, value])
  }
  const end = read.indexOf(10)
  if (end < 0) return { greeting: undefined, rest: read }
  return { greeting: toGreeting(JSON.parse(read.toString('utf8', 0, end))), rest: read.subarray(end + 1) }
}

function toGreeting(said: Json): Greeting | undefined {
  if (!isPlainObject(said) || said['form'] !== form) return undefined
  const { argv, cwd, env } = said
  if (!Array.isArray(argv) || typeof cwd !== 'string' || !isPlainObject(env)) return undefined
  const texts = Object.entries(env).filter(([, value]) => typeof value === 'string')
  return { argv: argv.map(String), cwd, env: Object.fromEntries(texts) as Greeting['env'] }
}

async function answerOne(
  { argv, cwd, env }: Greeting,
  { home, withRuntime, pieces, rest }: Serving & { pieces: AsyncIterator<Uint8Array>; rest: Uint8Array },
): Promise<object> {
  const [name = '', ...args] = argv
  const load = Object.hasOwn(hookAgents, name) ? hookAgents[name] : undefined
  const { values } = parseArgs({ args, options: hookOptions, strict: true })
  if (load === undefined || values.help === true) return {}
  let out = ''
  let err = ''
  const code = await answerHook(await load(), {
    given: { positionals: [], options: { ...values, home } },
    input: toInput(pieces, rest),
    cwd,
    env: (variable) => (Object.hasOwn(env, variable) && env[variable] !== '' ? env[variable] : undefined),
    print: (text) => (out += text),
    tell: (text) => (err += text),
    withRuntime,
  })
  return { code, out, err }
}

async function* toInput(pieces: AsyncIterator<Uint8Array>, rest: Uint8Array): AsyncGenerator<Uint8Array> {
  yield rest
  for (;;) {
    const { done, value } = await pieces.next()
    if (done === true) return
    yield value
  }
}

const text = { type: 'string' } as const
const flag = { type: 'boolean' } as const

/** The options of a hook. With any other one the client decides alone, and says what is wrong. */
const hookOptions = {
  event: text,
  'fail-open': flag,
  tenant: text,
  actor: text,
  role: text,
  mode: text,
  home: text,
  project: text,
  help: { ...flag, short: 'h' },
} as const
