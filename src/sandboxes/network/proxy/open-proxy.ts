import { createServer, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { once } from 'node:events'
import type { Duplex } from 'node:stream'
import { connectJudged } from '../base/connect-judged.ts'
import { findDoors, findPorts } from '../base/find-ports.ts'
import { forwardRequest } from './forward-request.ts'
import { namePath, type NetworkEntry, type NetworkProxy, type ProxyPlace } from '../base/network-entry.ts'
import { createProxyLog } from './proxy-log.ts'
import { readUrl } from '../base/read-url.ts'
import { toRefusal } from '../base/refusal.ts'
import { relayTunnel, type Connect, type Judge } from './relay-tunnel.ts'
import type { Passport } from '../base/send-request.ts'

/** Connections at a time. */
const maxConnections = 256
/** How long a request may take to say what it wants. */
const headersMs = 15_000
/** How long a connection may be silent: a server may think for a while, and a program may keep a connection at hand. */
const silenceMs = 300_000

/** What a proxy judges by. */
type ProxyBounds = Omit<Passport, 'signal'> & Pick<NetworkEntry, 'signals'>

/**
 * A proxy of HTTP on a socket of its own: `CONNECT`, and requests with a whole URL. Each is judged by itself, connects to an address that
 * was judged, and is refused with 403 otherwise. Memory stays bounded: neither side is read faster than the other takes it.
 */
export async function openProxy(
  { path, onGreeting, onRefused }: ProxyPlace,
  { signals, ...bounds }: ProxyBounds,
): Promise<NetworkProxy> {
  const log = createProxyLog(onRefused)
  const sockets = new Set<Duplex>()
  const closing = new AbortController()
  const keep = (socket: Socket): void => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    socket.on('error', () => socket.destroy())
    socket.setTimeout(silenceMs, () => socket.destroy())
  }
  const connect: Connect = async (url, left) => {
    const signal = AbortSignal.any([left, closing.signal, ...signals()])
    try {
      const connection = await connectJudged(url, { ...bounds, signal })
      keep(connection.socket)
      log.reached(`${connection.target.host}:${connection.target.port}`)
      return connection
    } catch (error) {
      if (!signal.aborted) log.refused(toPlace(url), toRefusal(error).reason)
      throw error
    }
  }
  /** A connection may say in its own words which host it is for. */
  const judge: Judge = async (url, left) => {
    try {
      const target = readUrl(url, bounds)
      await bounds.permit({ host: target.host, url: target.url.href })
    } catch (error) {
      if (!left.aborted) log.refused(toPlace(url), toRefusal(error).reason)
      throw error
    }
  }
  const answerName = async (name: string, response: ServerResponse): Promise<void> => {
    const left = new AbortController()
    response.once('close', () => left.abort())
    const signal = AbortSignal.any([left.signal, closing.signal, ...signals()])
    try {
      const text = JSON.stringify(await findPorts(name, bounds, { lookup: bounds.lookup, signal }))
      response.writeHead(200, { 'content-length': Buffer.byteLength(text) }).end(text)
    } catch (error) {
      const { status, title, headers, body, reason } = toRefusal(error)
      if (!signal.aborted) log.refused(name, reason)
      response.writeHead(status, title, headers).end(body)
    }
  }
  const server = createServer({ headersTimeout: headersMs, requestTimeout: 0, noDelay: true })
  server.maxConnections = maxConnections
  server.once('connection', (socket) => {
    onGreeting()
    socket.end('ready\n')
  })
  server.on('connection', keep)
  server.on('request', (request, response) => {
    const name = request.url?.startsWith(namePath) === true ? request.url.slice(namePath.length) : undefined
    void (name === undefined ? forwardRequest(request, response, connect) : answerName(name, response))
  })
  server.on(
    'connect',
    (request, client, head) => void relayTunnel(request, { client, head }, { connect, judge }),
  )
  server.listen(path)
  await once(server, 'listening')
  return {
    doors: findDoors(bounds),
    report: () => log.report(),
    close() {
      closing.abort()
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}

/** Host and port of what was asked for, however it was written. */
function toPlace(url: string): string {
  if (!URL.canParse(url)) return url
  const { hostname, port, protocol } = new URL(url)
  return `${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`
}
