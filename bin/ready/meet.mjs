// What who asks and the process that is ready agree on. Plain JavaScript on what every Node has.

/** Node, and the libraries in it, read these when they start. */
const readAtStart = /^(?:NODE_|UV_|LD_|DYLD_|MALLOC_|GLIBC_|ICU_|SSL_|OPENSSL_|LC_|LANG$|LANGUAGE$)/

/** What a process sees of the machine on Linux, by the names that its kernel has for it: in a container or a sandbox it is another machine. */
const views = ['mnt', 'net', 'pid', 'user', 'ipc', 'uts', 'cgroup']

/**
 * What a process must have in common with another one to run a command in its place, as one text: this program, the user, what they may do, what they see
 * of the machine, and of the environment what is read at the start.
 */
export function describePlace(fs, folder) {
  const program = ['../../dist/cli/main.cjs', '../../package.json'].map((path) => {
    const stat = fs.statSync(`${folder}/${path}`, { throwIfNoEntry: false })
    return stat && [stat.dev, stat.ino, stat.size, stat.mtimeMs]
  })
  const started = Object.entries(process.env)
    .filter(([name]) => readAtStart.test(name))
    .sort(([one], [other]) => (one < other ? -1 : 1))
  const ids = [process.geteuid(), process.getuid(), process.getegid(), process.getgid(), process.getgroups()]
  return JSON.stringify([folder, program, started, ids, ...(process.platform === 'linux' ? describeView(fs) : [])])
}

function describeView(fs) {
  return [
    ...views.map((name) => fs.readlinkSync(`/proc/self/ns/${name}`)),
    fs.readlinkSync('/proc/self/root'),
    fs.readFileSync('/proc/self/limits', 'latin1'),
    ...fs.readFileSync('/proc/self/status', 'latin1').match(/^(?:Cap\w+|NoNewPrivs|Seccomp):.*/gm),
  ]
}

const head = 5

/** A piece of what goes over the socket once a command was taken: a letter, the length of what follows, and that. */
export function frame(letter, content = '') {
  const length = Buffer.byteLength(content)
  const piece = Buffer.allocUnsafe(head + length)
  piece.write(letter, 0, 'latin1')
  piece.writeUInt32BE(length, 1)
  if (typeof content === 'string') piece.write(content, head)
  else piece.set(content, head)
  return piece
}

/** Hands each piece of a socket to what its letter names. */
export function readFrames(socket, takers) {
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
