// Asks a running "handrail serve" to answer the hook of an agent. Plain JavaScript on what every Node has, as it decides how quick a hook is.
import { lstatSync } from 'node:fs'
import { connect } from 'node:net'
import { homedir } from 'node:os'
import { isAbsolute, join, resolve } from 'node:path'

/** The server itself answers before that. */
const longestMs = 24_000

/** More is left to the command itself, which refuses it. */
const maxBytes = 33 * 1024 * 1024

const variables = ['HANDRAIL_PROJECT', 'CLAUDE_PROJECT_DIR', 'GEMINI_PROJECT_DIR', 'CURSOR_PROJECT_DIR']

/** The exit code if a server answered; else what was read of standard input, for the command itself to go on with. */
export async function askServer(argv) {
  const path = findSocket(argv)
  if (path === undefined) return { read: [] }
  const socket = await open(path)
  if (socket === undefined) return { read: [] }
  const read = []
  try {
    const reply = collect(socket)
    const env = Object.fromEntries(
      variables.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
    )
    socket.write(`${JSON.stringify({ form: 1, argv, cwd: process.cwd(), env })}\n`)
    let bytes = 0
    for await (const piece of process.stdin) {
      read.push(piece)
      bytes += piece.length
      if (bytes <= maxBytes && !socket.destroyed) socket.write(piece)
    }
    if (bytes > maxBytes) return { read }
    socket.end()
    const { code, out, err } = JSON.parse(await reply)
    if (typeof code !== 'number' || typeof out !== 'string') return { read }
    if (err) process.stderr.write(err)
    process.stdout.write(out)
    return { code }
  } catch {
    return { read }
  } finally {
    socket.destroy()
  }
}

/** The socket in the home folder, if it and the folder are this person's alone. */
function findSocket(argv) {
  if (process.platform === 'win32') return undefined
  const home = findHome(argv)
  if (home === undefined) return undefined
  const path = join(home, 'hooks.sock')
  try {
    const own = process.getuid()
    const [folder, socket] = [lstatSync(home), lstatSync(path)]
    const isOwn = (stat, others) => stat.uid === own && (stat.mode & others) === 0
    return socket.isSocket() && isOwn(socket, 0o077) && folder.isDirectory() && isOwn(folder, 0o022)
      ? path
      : undefined
  } catch {
    return undefined
  }
}

function findHome(argv) {
  const at = argv.findIndex((word) => word === '--home' || word.startsWith('--home='))
  if (at >= 0) return resolve(argv[at].slice('--home='.length) || argv[at + 1] || '.')
  const named = process.env.HANDRAIL_HOME || join(homedir(), '.handrail')
  return isAbsolute(named) ? named : undefined
}

function open(path) {
  return new Promise((done) => {
    const socket = connect({ path, allowHalfOpen: true })
    socket.once('connect', () => done(socket))
    socket.once('error', () => done(undefined))
  })
}

function collect(socket) {
  const reply = new Promise((done, fail) => {
    let text = ''
    socket.setEncoding('utf8').on('data', (piece) => (text += piece))
    socket.on('end', () => done(text))
    socket.on('error', fail)
    socket.on('close', () => fail(new Error('closed')))
    socket.setTimeout(longestMs, () => fail(new Error('late')))
  })
  reply.catch(() => {})
  return reply
}
