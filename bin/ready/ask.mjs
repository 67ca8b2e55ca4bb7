// Asks a running "handrail serve" for a process that runs a command in the place of this one, and is its streams and its signals. Plain JavaScript, and
// what it does not need at once it loads later: a command waits for it.
import { describePlace, frame, readFrames } from './meet.mjs'

const builtin = process.getBuiltinModule
const fs = builtin?.('node:fs')
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP']

/** Whether a process ran the command, over the socket at this path. If none did, nothing of it was done, and it can be run here. */
export async function askForProcess(path, argv) {
  const command = describeCommand(argv)
  if (command === undefined) return false
  const socket = builtin('node:net').connect({ path })
  socket.write(`${JSON.stringify(command)}\n`)
  return follow(socket, path.slice(0, path.lastIndexOf('/') + 1))
}

/** Undefined if the command would not be the same in another process. */
function describeCommand(argv) {
  // A file that is named by what this process has open is another one there.
  if (argv.some((word) => /\/(?:dev|proc)\//.test(word)) || process.execArgv.length > 0) return undefined
  try {
    const terminals = [0, 1, 2].map((fd) => findTerminal(fd))
    if (terminals.some((one) => one !== null) && (!isInFront() || takesInput(argv))) return undefined
    const place = describePlace(fs, import.meta.dirname)
    const [cwd, umask] = [process.cwd(), process.umask()]
    return { asks: 'command', form: 2, place, argv, cwd, env: process.env, umask, terminals }
  } catch {
    return undefined
  }
}

/** The path of the terminal that this is; null if it is none. Throws if it is one without a path. */
function findTerminal(fd) {
  const stat = fs.fstatSync(fd)
  if (!stat.isCharacterDevice()) return null
  const path = fs.readlinkSync(`/proc/self/fd/${fd}`)
  if (path === '/dev/null') return null
  if (!path.startsWith('/dev/pts/') || fs.statSync(path).rdev !== stat.rdev) throw new Error(path)
  return path
}

/** Whether this process may read what is typed: one in the background may not. */
function isInFront() {
  const stat = fs.readFileSync('/proc/self/stat', 'latin1')
  const [, , group, , , front] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return group === front
}

/** Whether standard input is taken for something, so that a person is asked around it: at the terminal that the process belongs to. */
function takesInput(argv) {
  return argv.some((word) => word === '-' || word.endsWith('=@-'))
}

/** Resolves once the command has ended, or no process takes it. */
function follow(socket, folder) {
  const outputs = { o: openOutput(1), e: openOutput(2) }
  let proof
  let taken = false
  let end
  let signal
  const say = (letter, content) => socket.write(frame(letter, content))
  const onSignal = (name) => say('s', (signal = name))
  const write = (letter) => (piece) => {
    if (!outputs[letter].write(piece)) say('b', letter)
  }
  let input
  socket.once('data', (name) => {
    proof = prove(socket, folder, String(name).trim())
    readFrames(socket, {
      t() {
        taken = true
        for (const each of signals) process.on(each, onSignal)
      },
      i() {
        input ??= process.stdin[Symbol.asyncIterator]()
        input.next().then(
          ({ done, value }) => (done ? say('d') : say('i', value)),
          () => say('d'),
        )
      },
      o: write('o'),
      e: write('e'),
      x: (said) => (end = JSON.parse(said)),
    })
  })
  return new Promise((resolve) => {
    socket.on('error', () => {})
    socket.once('close', () => {
      for (const each of signals) process.off(each, onSignal)
      if (input !== undefined) process.stdin.destroy()
      if (!taken && proof !== undefined) fs.rmSync(proof, { force: true })
      if (taken) endAs(end, { signal, outputs })
      resolve(taken)
    })
  })
}

/** Shows that this process may write to the home folder, by a file with this name. */
function prove(socket, folder, name) {
  try {
    if (!/^serve-[0-9a-f]{32}\.proof$/.test(name)) throw new Error(name)
    const proof = folder + name
    fs.closeSync(fs.openSync(proof, 'wx', 0o600))
    socket.write('\n')
    return proof
  } catch {
    socket.destroy()
    return undefined
  }
}

/** Ends as the command did. */
function endAs(end, { signal, outputs }) {
  if (end !== undefined) {
    process.exitCode = end.code === 0 && outputs.o.hasFailed() ? 1 : end.code
  } else if (signal !== undefined) process.kill(process.pid, signal)
  else {
    process.exitCode = 1
    process.stderr.write(
      'handrail: process_ended: The process of "handrail serve" that ran this command ended in the middle of it. What was done by then is done, and the rest is not: "handrail evidence list" shows it.\n',
    )
  }
}

/** Writes at once; what the reader takes later, a stream hands over. */
function openOutput(fd) {
  const stream = fd === 1 ? () => process.stdout : () => process.stderr
  let isLater = false
  let isGone = false
  let hasFailed = false
  const fail = ({ code, message }) => {
    if (isGone) return
    isGone = true
    if (fd === 2 || code === 'EPIPE' || code === 'EIO') return
    hasFailed = true
    process.stderr.write(
      `handrail: output_failed: The output cannot be written: ${message}. Nothing that was done is undone.\n`,
    )
  }
  const writeLater = (rest) => {
    if (!isLater) stream().on('error', fail)
    isLater = true
    stream().write(rest)
  }
  return {
    hasFailed: () => hasFailed,
    /** Whether anybody reads it. */
    write(piece) {
      let rest = piece
      try {
        while (rest.length > 0 && !isGone && !isLater) rest = rest.subarray(fs.writeSync(fd, rest))
      } catch (error) {
        if (error.code !== 'EAGAIN') fail(error)
      }
      if (rest.length > 0 && !isGone) writeLater(rest)
      return !isGone
    },
  }
}
