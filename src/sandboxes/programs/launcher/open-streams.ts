import { createServer, Socket } from 'node:net'

/** Connections from the launcher, each the end of a stream that a program has at the other one. Close it. */
export interface Streams {
  /** The connection with this key, once it is there. A closed one where this is closed before. */
  take(key: string): Promise<Socket>
  close(): void
}

/** Listens at a path for connections that start with a key of so many bytes. What does not carry the secret is closed. */
export async function openStreams(
  path: string,
  { secret, keyBytes }: { secret: string; keyBytes: number },
): Promise<Streams> {
  const idle = new Map<string, Socket>()
  let isClosed = false
  const wanted = new Map<string, (socket: Socket) => void>()
  const arrive = (key: string, socket: Socket) => {
    // The launcher waits for this before it hands the connection on.
    socket.write('\n')
    const want = wanted.get(key)
    wanted.delete(key)
    if (want !== undefined) want(socket)
    else if (key.startsWith(secret)) idle.set(key, socket)
    else socket.destroy()
  }
  const server = createServer((socket) => {
    socket.unref()
    // A pipe that breaks has given what it had.
    socket.on('error', () => socket.destroy())
    const look = () => {
      const key: unknown = socket.read(keyBytes)
      if (!(key instanceof Buffer)) return
      socket.off('readable', look)
      arrive(key.toString('latin1'), socket)
    }
    socket.on('readable', look)
  })
  server.unref()
  // A connection that cannot be accepted is closed, which the launcher sees.
  server.on('error', () => {})
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(path, resolve)
  })
  return {
    take(key) {
      const socket = idle.get(key)
      idle.delete(key)
      if (socket !== undefined) return Promise.resolve(socket)
      return isClosed ? Promise.resolve(closedStream()) : new Promise((resolve) => wanted.set(key, resolve))
    },
    close() {
      isClosed = true
      server.close()
      for (const socket of idle.values()) socket.destroy()
      for (const want of wanted.values()) want(closedStream())
      idle.clear()
      wanted.clear()
    },
  }
}

function closedStream(): Socket {
  return new Socket().destroy()
}
