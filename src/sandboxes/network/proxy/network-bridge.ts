import type { Server, Socket } from 'node:net'
import { namePath, type ProxyDoor } from '../base/network-entry.ts'

/** Where programs find the proxy: on the loopback of their own sandbox. */
const port = 3128
/** Where the bridge finds the socket of the proxy. */
export const socketInside = '/dev/shm/handrail-proxy'
/** What programs ask for names. */
export const nameServer = '127.0.0.1'

interface BridgeSettings {
  /** The socket of the proxy. */
  readonly path: string
  readonly port: number
  readonly server: string
  /** The path under which the proxy says which ports of a name are open. */
  readonly names: string
  readonly doors: readonly ProxyDoor[]
}

/**
 * The network of a sandbox, which has its own loopback alone: a program of its own, made of this function, those of `parts`, and
 * nothing else from this file. It hands on, and what may be reached is decided behind the socket.
 *
 * - The port of the proxy leads to the socket, for programs that know a proxy.
 * - A name server assigns each name that may be reached an address of its own on the loopback, and listens there at the ports that are open
 *   for it. What comes there is led to that name, by a tunnel of the proxy.
 * - Each door, an address of the sandbox itself, leads to the same one outside.
 *
 * Writes `ready` when all that listens and the socket answered, and then lets go of its output.
 */
function bridge({ path, port, server, names, doors }: BridgeSettings): void {
  const { closeSync, openSync, writeSync } = process.getBuiltinModule('node:fs')
  const { connect } = process.getBuiltinModule('node:net')
  const { enter, both, lead } = createTunnels(path)
  void Promise.all([
    listen({ host: '127.0.0.1', port }, (from) => both(from, enter())),
    serveNames(server, createNames({ path, names, lead })),
    ...doors.flatMap(({ host, port: at }) => {
      const addresses = host === 'localhost' ? ['127.0.0.1', '::1'] : [host]
      const place = host.includes(':') ? `[${host}]:${at}` : `${host}:${at}`
      return addresses.map((each) => listen({ host: each, port: at }, (from) => lead(from, place)))
    }),
  ]).then(() =>
    connect(path).once('data', () => {
      writeSync(1, 'ready')
      closeSync(1)
      openSync('/dev/null', 'w')
    }),
  )
}

function listen(at: { host: string; port: number }, onSocket: (socket: Socket) => void): Promise<Server> {
  const { createServer } = process.getBuiltinModule('node:net')
  return new Promise((resolve) => {
    const own = createServer({ allowHalfOpen: true, noDelay: true, pauseOnConnect: true }, onSocket)
    // A program may have taken the place.
    own.on('error', () => resolve(own))
    own.listen(at, () => resolve(own))
  })
}

/** What leads sockets to the proxy. */
function createTunnels(path: string) {
  const { connect } = process.getBuiltinModule('node:net')
  const join = (from: Socket, to: Socket): void => {
    from.pipe(to)
    from.on('error', () => to.destroy())
    from.on('close', () => (from.readableEnded ? to.end() : to.destroy()))
  }
  const both = (one: Socket, other: Socket): void => {
    join(one, other)
    join(other, one)
  }
  const enter = (): Socket => connect({ path, allowHalfOpen: true })
  /** Through a tunnel of the proxy, which says nothing but its own head before the other side does. */
  const lead = (from: Socket, place: string): void => {
    const to = enter()
    const leave = (): void => void to.destroy()
    // Programs take that for what it is: a host that does not answer them.
    const refuse = (): void => void from.resetAndDestroy()
    let head = ''
    const read = (piece: Buffer): void => {
      head += piece.toString('latin1')
      const end = head.indexOf('\r\n\r\n')
      if (end < 0) return
      to.off('data', read)
      if (!head.startsWith('HTTP/1.1 200')) return void to.destroy()
      to.pause()
      if (head.length > end + 4) to.unshift(Buffer.from(head.slice(end + 4), 'latin1'))
      from.off('close', leave)
      to.off('close', refuse)
      both(from, to)
    }
    from.on('error', leave)
    from.on('close', leave)
    to.on('error', leave)
    to.on('close', refuse)
    to.on('data', read)
    to.write(`CONNECT ${place} HTTP/1.1\r\nHost: ${place}\r\n\r\n`)
  }
  return { enter, both, lead }
}

interface NamesOptions extends Pick<BridgeSettings, 'path' | 'names'> {
  readonly lead: (from: Socket, place: string) => void
}

/** The address of a name, on which the bridge then listens; undefined if the proxy does not let the name be reached. */
type FindAddress = (name: string) => Promise<string | undefined>

function createNames({ path, names, lead }: NamesOptions): FindAddress {
  const { connect } = process.getBuiltinModule('node:net')
  /** The oldest makes room for a new one. */
  const mostNames = 512
  const forgetRefusedMs = 1_000
  const known = new Map<string, Promise<{ address: string | undefined; servers: readonly Server[] }>>()
  let lastAddress = 0

  const ask = (name: string): Promise<number[]> =>
    new Promise((resolve) => {
      const to = connect({ path })
      let answer = ''
      to.on('data', (piece: Buffer) => void (answer += piece.toString()))
      to.on('error', () => resolve([]))
      to.on('close', () => {
        const ok = answer.startsWith('HTTP/1.1 200')
        resolve(ok ? JSON.parse(answer.slice(answer.indexOf('\r\n\r\n'))) : [])
      })
      to.write(`GET ${names}${encodeURIComponent(name)} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)
    })
  const forget = (name: string): void => {
    const entry = known.get(name)
    known.delete(name)
    void entry?.then(({ servers }) => servers.forEach((each) => each.close()))
  }
  const open = async (name: string) => {
    const ports = await ask(name)
    if (ports.length === 0) return { address: undefined, servers: [] }
    // 127.64.0.0/10, whose addresses are all this machine's own.
    const number = (lastAddress = (lastAddress % 4_000_000) + 1)
    const address = `127.${64 + (number >> 16)}.${(number >> 8) & 255}.${number & 255}`
    const servers = await Promise.all(
      ports.map((each) => listen({ host: address, port: each }, (from) => lead(from, `${name}:${each}`))),
    )
    return { address, servers }
  }
  return async (name) => {
    let entry = known.get(name)
    if (entry === undefined) {
      const [oldest] = known.keys()
      if (known.size >= mostNames && oldest !== undefined) forget(oldest)
      known.set(name, (entry = open(name)))
    }
    const { address } = await entry
    if (address === undefined) setTimeout(() => known.delete(name), forgetRefusedMs).unref()
    return address
  }
}

/** Answers what programs ask for names. */
function serveNames(server: string, find: FindAddress): Promise<void> {
  const { createSocket } = process.getBuiltinModule('node:dgram')
  return new Promise((resolve) => {
    const socket = createSocket('udp4')
    socket.on('message', (query, { address, port: from }) => {
      // What is not a question gets no answer.
      answerQuery(query, find).then(
        (answer) => socket.send(answer, from, address),
        () => {},
      )
    })
    socket.on('error', () => resolve())
    socket.bind({ address: server, port: 53 }, () => resolve())
  })
}

async function answerQuery(query: Buffer, find: FindAddress): Promise<Buffer> {
  const { name, type, end } = readQuestion(query)
  const address = await find(name)
  const noSuchName = 3
  const hasAddress = address !== undefined && type === 1
  const header = Buffer.alloc(12)
  header.writeUInt16BE(query.readUInt16BE(0), 0)
  header.writeUInt16BE(0x8180 | (address === undefined ? noSuchName : 0), 2)
  header.writeUInt16BE(1, 4)
  header.writeUInt16BE(hasAddress ? 1 : 0, 6)
  const parts = [header, query.subarray(12, end)]
  // The name of the question, an address, of the internet, good for a minute, of four bytes.
  if (hasAddress)
    parts.push(Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, ...address.split('.').map(Number)]))
  return Buffer.concat(parts)
}

/** One question, as programs ask it (RFC 1035): its name and type, and where it ends. */
function readQuestion(query: Buffer) {
  const labels: string[] = []
  let at = 12
  for (let length = query.readUInt8(at); length > 0; length = query.readUInt8(at)) {
    if (length > 63) throw new RangeError('A name is not compressed in a question.')
    labels.push(query.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 }
}

const parts = [listen, createTunnels, createNames, serveNames, answerQuery, readQuestion]

/** The argument list of the bridge, for this Node. */
export function bridgeArguments(node: string, doors: readonly ProxyDoor[]): string[] {
  const lean = ['--v8-pool-size=0', '--max-semi-space-size=1']
  const settings: BridgeSettings = { path: socketInside, port, server: nameServer, names: namePath, doors }
  return [
    node,
    ...lean,
    '-e',
    `${parts.map(String).join('\n')}\n;(${String(bridge)})(${JSON.stringify(settings)})`,
  ]
}

/** What tells programs of the proxy, under each name that some of them know. Servers of their own they reach without it. */
export function proxyEnvironment(): Record<string, string> {
  const proxy = `http://127.0.0.1:${port}`
  const own = 'localhost,127.0.0.1,::1'
  return {
    HTTP_PROXY: proxy,
    HTTPS_PROXY: proxy,
    ALL_PROXY: proxy,
    NO_PROXY: own,
    http_proxy: proxy,
    https_proxy: proxy,
    all_proxy: proxy,
    no_proxy: own,
    // Node looks at the others only if this is set.
    NODE_USE_ENV_PROXY: '1',
  }
}
