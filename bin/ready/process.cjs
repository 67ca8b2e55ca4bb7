// A process that "handrail serve" keeps, and that runs one command after the other, each with the streams, the arguments, the folder and the environment
// of who asked for it. What it says to them goes over their own socket, so that the server reads none of it.
const fs = require('node:fs')
const { Readable, Writable } = require('node:stream')
const { ReadStream, WriteStream } = require('node:tty')
const { loadProgram } = require('../load-program.cjs')
const { describePlace, frame, readFrames } = require('./ask.cjs')

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP']
const { program } = loadProgram('cli/main.cjs', 'call')
let forNext

/** Tells who asked for the command that runs; undefined between commands. */
let tell
let isLeft = false

// Once the server is gone, writing there fails, and says nothing of the command.
process.stderr.on('error', () => {})
void start()

async function start() {
  forNext = await program.keepForNext()
  let asked
  process.on('message', (said, socket) => {
    if (said === 'begin') void take(...asked)
    else asked = [said, socket]
  })
  process.on('disconnect', () => {
    isLeft = true
    if (tell === undefined) void leave()
  })
  // A command that ends its process has a code to hand on.
  process.on('exit', (code) => tell?.('x', JSON.stringify({ code })))
  process.send({ place: describePlace() })
}

async function take(command, socket) {
  if (socket !== undefined && isPlace(command)) await run(command, socket)
  else socket?.destroy()
  if (isLeft) await leave()
  else process.send({ isIdle: true })
}

/** Whether this process can be where the command was started; else the command itself says what is wrong there. */
function isPlace({ cwd, umask }) {
  try {
    process.chdir(cwd)
    process.umask(umask)
    return true
  } catch {
    return false
  }
}

async function run({ argv, env, terminals }, socket) {
  let streams
  try {
    streams = openStreams(terminals, socket)
  } catch {
    socket.destroy()
    return
  }
  for (const name of Object.keys(process.env)) delete process.env[name]
  Object.assign(process.env, env)
  process.exitCode = undefined
  tell = (letter, content) => socket.write(frame(letter, content))
  tell('t')
  await forNext.run(argv, () => program.runMain(argv))
  // What was said goes before the end.
  await Promise.all([streams.stdout, streams.stderr].map((each) => flush(each)))
  tell('x', JSON.stringify({ code: Number(process.exitCode ?? 0) }))
  tell = undefined
  streams.close()
  socket.end()
  for (const name of signals) process.removeAllListeners(name)
  process.chdir('/')
}

async function leave() {
  await forNext.close()
  process.exit()
}

/** Puts streams in the place of the standard ones: those of who asks, or the terminal that they are. */
function openStreams([typed, shown, told], socket) {
  const before = own.map(([holder, name]) => holder[name])
  const opened = []
  let isOver = false
  const open = (terminal, flags) => {
    const fd = fs.openSync(terminal, flags | fs.constants.O_NOCTTY)
    const stream = flags === fs.constants.O_RDONLY ? new ReadStream(fd) : new WriteStream(fd)
    opened.push(stream)
    return stream
  }
  const stdin = typed === null ? toInput(socket) : open(typed, fs.constants.O_RDONLY)
  const stdout = shown === null ? toOutput('o', socket) : open(shown, fs.constants.O_WRONLY)
  const stderr = told === null ? toOutput('e', socket) : open(told, fs.constants.O_WRONLY)
  readFrames(socket, {
    i: (piece) => stdin.push(piece),
    d: () => stdin.push(null),
    b: (letter) =>
      (String(letter) === 'o' ? stdout : stderr).emit(
        'error',
        Object.assign(new Error('EPIPE'), { code: 'EPIPE' }),
      ),
    s: (name) => isOver || raise(String(name)),
  })
  socket.on('error', () => {})
  // Who is gone can tell nothing more, as with a terminal that was closed.
  socket.on('close', () => isOver || raise('SIGHUP'))
  replaceOwn([stdin, stdout, stderr, stdout, stderr])
  return {
    stdout,
    stderr,
    close() {
      isOver = true
      replaceOwn(before)
      for (const stream of opened) stream.destroy()
    },
  }
}

/** Where the standard streams are found. The console keeps those that it found first. */
const own = [
  [process, 'stdin'],
  [process, 'stdout'],
  [process, 'stderr'],
  [console, '_stdout'],
  [console, '_stderr'],
]

function replaceOwn(streams) {
  for (const [index, [holder, name]] of own.entries())
    Object.defineProperty(holder, name, { value: streams[index], configurable: true, writable: true })
}

/** Asks for a piece when one is read, so that what a command does not read stays there for the next one. */
function toInput(socket) {
  return new Readable({ read: () => void socket.write(frame('i')) })
}

/** Goes on when the piece was taken, or who asked is gone. */
function toOutput(letter, socket) {
  const stream = new Writable({
    write(piece, _, done) {
      stream.bytesWritten += piece.length
      socket.write(frame(letter, piece), () => done())
    },
  })
  return Object.assign(stream, { bytesWritten: 0 })
}

function flush(stream) {
  return new Promise((resolve) => void stream.write('', resolve))
}

function raise(name) {
  if (signals.includes(name) && !process.emit(name, name)) process.kill(process.pid, name)
}
