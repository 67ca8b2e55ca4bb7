// Asks a running "handrail serve" for a process that runs a command in the place of this one, and is its streams and its signals. Plain JavaScript, and
// what it does not need at once it loads later: a command waits for it.
const fs = require('node:fs')

/** Of what goes over the socket. */
const form = 3

/** A server that says nothing for so long is stopped, or another one. */
const longestMs = 2_000

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP']

/** Whether a process ran the command, over the socket at this path. If none did, nothing of it was done, and it can be run here. */
async function askForProcess(path, argv) {
  if (!isAlike(argv)) return false
  // The server hears of it while this process looks at itself.
  const socket = require('node:net').connect({ path })
  const command = describeCommand(argv)
  if (command !== undefined)
    return follow(socket, { command, folder: path.slice(0, path.lastIndexOf('/') + 1) })
  socket.destroy()
  return false
}

/** Whether its words mean the same in another process: a file that is named by what this one has open is another one there. */
function isAlike(argv) {
  return process.execArgv.length === 0 && !argv.some((word) => /\/(?:dev|proc)\//.test(word))
}

/** Undefined if the command would not be the same in another process. */
function describeCommand(argv) {
  try {
    const terminals = [0, 1, 2].map((fd) => findTerminal(fd))
    if (terminals.some((one) => one !== null) && (!isInFront() || takesInput(argv))) return undefined
    const place = describePlace()
    const [cwd, umask] = [process.cwd(), process.umask()]
    const { env } = process
    return { asks: 'command', form, place, argv, cwd, env, started: findStarted(), umask, terminals }
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
function follow(socket, { command, folder }) {
  const outputs = { o: openOutput(1), e: openOutput(2) }
  let proof
  let taken = false
  let end
  let signal
  const say = (letter, content) => socket.write(frame(letter, content))
  const onSignal = (name) => {
    signal = name
    if (taken) say('s', name)
    // A server that does not answer must not keep who wants to end.
    else setTimeout(() => taken || socket.destroy(), longestMs).unref()
  }
  const write = (letter) => (piece) => {
    if (!outputs[letter].write(piece)) say('b', letter)
  }
  let input
  let leave
  socket.setTimeout(longestMs, () => socket.destroy())
  socket.once('data', (name) => {
    socket.setTimeout(0)
    for (const each of signals) process.on(each, onSignal)
    proof = prove(socket, { command, folder, name: String(name).trim() })
    readFrames(socket, {
      t() {
        taken = true
        if (signal !== undefined) say('s', signal)
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
      x(said) {
        end = JSON.parse(said)
        // The rest of its end need not be waited for.
        leave()
      },
    })
  })
  return new Promise((resolve) => {
    leave = () => {
      for (const each of signals) process.off(each, onSignal)
      if (input !== undefined) process.stdin.destroy()
      if (!taken && proof !== undefined) fs.rmSync(proof, { force: true })
      if (taken || signal !== undefined) endAs(end, { signal, outputs })
      resolve(taken || signal !== undefined)
    }
    socket.on('error', () => {})
    socket.once('close', () => end === undefined && leave())
  })
}

/** Asks, and shows that this process may write to the home folder, by a file with this name there. */
function prove(socket, { command, folder, name }) {
  try {
    if (!/^serve-[0-9a-f]{32}\.proof$/.test(name)) throw new Error(name)
    const proof = folder + name
    fs.closeSync(fs.openSync(proof, 'wx', 0o600))
    socket.write(`${JSON.stringify(command)}\n`)
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
    // At once, as nothing is left to be done: to take a process apart takes longer.
    if (Object.values(outputs).every((output) => output.isDone())) process.exit()
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
    isDone: () => !isLater,
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

/** Node, and the libraries in it, read these when they start. */
const readAtStart = /^(?:NODE_|UV_|LD_|DYLD_|MALLOC_|GLIBC_|ICU_|SSL_|OPENSSL_|LC_|LANG$|LANGUAGE$|HOME$)/

/** What a process sees of the machine on Linux, by the names that its kernel has for it: in a container or a sandbox it is another machine. */
const views = ['mnt', 'net', 'pid', 'user', 'ipc', 'uts', 'cgroup']

/**
 * What a process must have in common with another one to run a command in its place, as one text: Node, this program, the user, what they may do, what they see
 * of the machine, and of the environment what is read at the start.
 */
function describePlace() {
  const program = ['../../dist/cli/main.cjs', '../../package.json'].map((path) => {
    const stat = fs.statSync(`${__dirname}/${path}`)
    return [stat.dev, stat.ino, stat.size, stat.mtimeMs]
  })
  const ids = [process.geteuid(), process.getuid(), process.getegid(), process.getgid(), process.getgroups()]
  return JSON.stringify([
    process.version,
    __dirname,
    program,
    Object.entries(findStarted()).sort(([one], [other]) => (one < other ? -1 : 1)),
    ids,
    ...(process.platform === 'linux' ? describeView() : []),
  ])
}

/** What a process is started with: what runs later finds it in /proc. */
function findStarted() {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => readAtStart.test(name)))
}

function describeView() {
  // With another one, namespaces and its path are the same.
  const root = fs.statSync('/')
  return [
    ...views.map((name) => fs.readlinkSync(`/proc/self/ns/${name}`)),
    [root.dev, root.ino],
    require('node:os').getPriority(),
    fs.readFileSync('/proc/self/limits', 'latin1'),
    ...fs.readFileSync('/proc/self/status', 'latin1').match(ofStatus),
  ]
}

const ofStatus = /^(?:Cap\w+|NoNewPrivs|Seccomp\w*|Cpus_allowed|Mems_allowed):.*/gm

const head = 5

/** A piece of what goes over the socket once a command was taken: a letter, the length of what follows, and that. */
function frame(letter, content = '') {
  const length = Buffer.byteLength(content)
  const piece = Buffer.allocUnsafe(head + length)
  piece.write(letter, 0, 'latin1')
  piece.writeUInt32BE(length, 1)
  if (typeof content === 'string') piece.write(content, head)
  else piece.set(content, head)
  return piece
}

/** Hands each piece of a socket to what its letter names. */
function readFrames(socket, takers) {
  let rest = Buffer.alloc(0)
  socket.on('data', (piece) => {
    rest = rest.length === 0 ? piece : Buffer.concat([rest, piece])
    while (rest.length >= head) {
      const end = head + rest.readUInt32BE(1)
      if (rest.length < end) return
      const [letter, content] = [String.fromCharCode(rest[0]), rest.subarray(head, end)]
      rest = rest.subarray(end)
      takers[letter]?.(content)
    }
  })
}

module.exports = { askForProcess, describePlace, frame, readFrames }
