import type * as Dgram from 'node:dgram'
import type * as Fs from 'node:fs'
import type * as Net from 'node:net'
import { namePath, type ProxyDoor } from '../base/network-entry.ts'

/** Where programs find the proxy: on the loopback of their own sandbox. */
const port = 3128
/** Where the bridge finds the socket of the proxy. */
export const socketInside = '/dev/shm/handrail-proxy'
/** What programs ask for names. */
export const nameServer = '127.0.0.1'

/**
 * The network of a sandbox, which has its own loopback alone: a program of its own, with nothing from outside of this function. It hands on, and
 * what may be reached is decided behind the socket.
 *
 * - The port of the proxy leads to the socket, for programs that know a proxy.
 * - A name server assigns each name that may be reached an address of its own on the loopback, and listens there at the ports that are open
 *   for it. What comes there is led to that name, by a tunnel of the proxy.
 * - Each door, an address of the sandbox itself, leads to the same one outside.
 *
 * Writes `ready` when all that listens and the socket answered, and then lets go of its output.
 */
function bridge(): void {
  const load = <Module>(name: string): Module => process.getBuiltinModule(name) as Module
  const { closeSync, openSync, writeSync } = load<typeof Fs>('node:fs')
  const { connect, createServer } = load<typeof Net>('node:net')
  const { createSocket } = load<typeof Dgram>('node:dgram')
  const [path = '', proxyPort = '', server = '', names = '', doors = ''] = process.argv.slice(1)
  /** The oldest makes room for a new one. */
  const mostNames = 512
  const forgetRefusedMs = 1_000

  const join = (from: Net.Socket, to: Net.Socket): void => {
    from.pipe(to)
    from.on('error', () => to.destroy())
    from.on('close', () => (from.readableEnded ? to.end() : to.destroy()))
  }
  const both = (one: Net.Socket, other: Net.Socket): void => {
    join(one, other)
    join(other, one)
  }
  const enter = (): Net.Socket => connect({ path, allowHalfOpen: true })
  /** Through a tunnel of the proxy, which says nothing but its own head before the other side does. */
  const lead = (from: Net.Socket, place: string): void => {
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
  const listen = (
    at: { host: string; port: number },
    onSocket: (socket: Net.Socket) => void,
  ): Promise<Net.Server> =>
    new Promise((resolve) => {
      const own = createServer({ allowHalfOpen: true, noDelay: true, pauseOnConnect: true }, onSocket)
      // A program may have taken the place.
      own.on('error', () => resolve(own))
      own.listen(at, () => resolve(own))
    })
  const ask = (name: string): Promise<number[]> =>
    new Promise((resolve) => {
      const to = connect({ path })
      let answer = ''
      to.on('data', (piece: Buffer) => void (answer += piece.toString()))
      to.on('error', () => resolve([]))
      to.on('close', () => {
        const ok = answer.startsWith('HTTP/1.1 200')
        resolve(ok ? (JSON.parse(answer.slice(answer.indexOf('\r\n\r\n'))) as number[]) : [])
      })
      to.write(`GET ${names}${encodeURIComponent(name)} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)
    })

  interface Known {
    readonly address: string | undefined
    readonly servers: readonly Net.Server[]
  }
  const known = new Map<string, Promise<Known>>()
  let lastAddress = 0
  const forget = (name: string): void => {
    const entry = known.get(name)
    known.delete(name)
    void entry?.then(({ servers }) => servers.forEach((each) => each.close()))
  }
  const open = async (name: string): Promise<Known> => {
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
  const find = async (name: string): Promise<string | undefined> => {
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
  /** One question, as programs ask it (RFC 1035): its name and type, and where it ends. */
  const readQuestion = (query: Buffer) => {
    const labels: string[] = []
    let at = 12
    for (let length = query.readUInt8(at); length > 0; length = query.readUInt8(at)) {
      if (length > 63) throw new RangeError('A name is not compressed in a question.')
      labels.push(query.toString('latin1', at + 1, at + 1 + length))
      at += 1 + length
    }
    return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 }
  }
  const reply = async (query: Buffer): Promise<Buffer> => {
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
  const serveNames = (): Promise<void> =>
    new Promise((resolve) => {
      const socket = createSocket('udp4')
      socket.on('message', (query, { address, port: from }) => {
        // What is not a question gets no answer.
        reply(query).then(
          (answer) => socket.send(answer, from, address),
          () => {},
        )
      })
      socket.on('error', () => resolve())
      socket.bind({ address: server, port: 53 }, () => resolve())
    })

  void Promise.all([
    listen({ host: '127.0.0.1', port: Number(proxyPort) }, (from) => both(from, enter())),
    serveNames(),
    ...(JSON.parse(doors) as { host: string; port: number }[]).flatMap(({ host, port: at }) => {
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

/** The argument list of the bridge, for this Node. */
export function bridgeArguments(node: string, doors: readonly ProxyDoor[]): string[] {
  const lean = ['--v8-pool-size=0', '--max-semi-space-size=1']
  const about = [socketInside, String(port), nameServer, namePath, JSON.stringify(doors)]
  return [node, ...lean, '-e', `(${String(bridge)})()`, ...about]
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
