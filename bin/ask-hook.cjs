// Asks a running "handrail serve" to answer the hook of an agent. Plain JavaScript on what every Node has, as it decides how quick a hook is: so it
// uses no stream where a plain read does.
const { readSync, readlinkSync, statSync, writeSync } = require('node:fs')

const form = 3

/** The server itself answers before that. */
const longestMs = 24_000

/** More is left to the command itself, which refuses it. */
const maxBytes = 33 * 1024 * 1024

/** The exit code if a server answered; else what was read of standard input, for the command itself to go on with. */
async function askAboutHook(path, argv) {
  const { connect } = require('node:net')
  const socket = await open(connect({ path, allowHalfOpen: true }))
  if (socket === undefined) return { read: [] }
  const read = []
  try {
    const reply = collect(socket)
    const { env } = process
    socket.write(`${JSON.stringify({ form, root: describeRoot(), argv, cwd: process.cwd(), env })}\n`)
    let bytes = 0
    for await (const piece of readInput()) {
      read.push(piece)
      bytes += piece.length
      if (bytes <= maxBytes && !socket.destroyed) socket.write(piece)
    }
    if (bytes > maxBytes) return { read }
    socket.end()
    const { code, out, err } = JSON.parse(await reply)
    if (typeof code !== 'number' || typeof out !== 'string') return { read }
    if (err) process.stderr.write(err)
    print(out)
    return { code }
  } catch {
    return { read }
  } finally {
    socket.destroy()
  }
}

/** Where paths begin: in a container they name other files. */
function describeRoot() {
  const { dev, ino } = statSync('/')
  return [dev, ino, process.platform === 'linux' ? readlinkSync('/proc/self/ns/mnt') : ''].join(' ')
}

function open(socket) {
  return new Promise((done) => {
    socket.once('connect', () => done(socket))
    socket.once('error', () => done(undefined))
  })
}

function collect(socket) {
  const reply = new Promise((done, fail) => {
    let text = ''
    socket.setEncoding('utf8').on('data', (piece) => (text += piece))
    // The first line is for who asks for more than a decision.
    socket.on('end', () => done(text.slice(text.indexOf('\n'))))
    socket.on('error', fail)
    socket.on('close', () => fail(new Error('closed')))
    socket.setTimeout(longestMs, () => fail(new Error('late')))
  })
  reply.catch(() => {})
  return reply
}

/** Standard input, piece by piece. What is not there yet is waited for by a stream, if it cannot be by a read. */
async function* readInput() {
  for (;;) {
    const piece = Buffer.allocUnsafe(64 * 1024)
    let length
    try {
      length = readSync(0, piece)
    } catch (error) {
      if (error.code === 'EOF') return
      if (error.code !== 'EAGAIN') throw error
      yield* process.stdin
      return
    }
    if (length === 0) return
    yield piece.subarray(0, length)
  }
}

/** Prints at once; what the reader takes later, a stream hands over. */
function print(text) {
  let rest = Buffer.from(text)
  try {
    while (rest.length > 0) rest = rest.subarray(writeSync(1, rest))
  } catch (error) {
    if (error.code === 'EAGAIN') process.stdout.write(rest)
  }
}

module.exports = { askAboutHook }
