import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { ToolFailure } from '../../../contract/base/errors.ts'
import type { JudgedConnection } from '../base/connect-judged.ts'
import { readServerName } from './read-server-name.ts'
import { toRefusal } from '../base/refusal.ts'

/** Connects to what a URL names. */
export type Connect = (url: string, signal: AbortSignal) => Promise<JudgedConnection>

/** Judges what a URL names, without connecting to it. Rejects with a `ToolFailure`. */
export type Judge = (url: string, signal: AbortSignal) => Promise<void>

/**
 * Answers `CONNECT host:port`: from then on the bytes of both sides go to the other one as they come, and no faster than it takes them. Where
 * the first ones say that they are for another server (TLS), that one is judged too before they go on.
 */
export async function relayTunnel(
  request: IncomingMessage,
  { client, head }: { client: Duplex; head: Buffer },
  { connect, judge }: { connect: Connect; judge: Judge },
): Promise<void> {
  const left = new AbortController()
  client.once('close', () => left.abort())
  try {
    const { socket, target } = await connect(toUrl(request.url ?? ''), left.signal)
    client.write('HTTP/1.1 200 Connection established\r\n\r\n')
    lead(socket, client)
    void passHello({ client, head }, socket, {
      judge: (name) => judge(`https://${name}:${target.port}/`, left.signal),
      known: target.host,
    })
  } catch (error) {
    const { status, title, headers, body } = toRefusal(error)
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
    client.end(`HTTP/1.1 ${status} ${title}\r\n${lines.join('')}\r\n${body}`)
  }
}

/** A tunnel is judged like a request of HTTPS to that host and port, whatever will be spoken in it. */
function toUrl(authority: string): string {
  if (/^[^\s/?#\\]+$/.test(authority)) return `https://${authority}/`
  throw new ToolFailure({
    code: 'SCHEMA.VALIDATION_FAILED',
    reason: 'invalid_input',
    message: 'CONNECT needs a host and a port, such as "example.com:443".',
  })
}

/** Hands on what the client says as soon as it is known that nothing speaks against it. */
async function passHello(
  { client, head }: { client: Duplex; head: Buffer },
  socket: Duplex,
  { judge, known }: { judge: (name: string) => Promise<void>; known: string },
): Promise<void> {
  try {
    const { bytes, name } = await readHello(client, head)
    if (name !== undefined && name.toLowerCase() !== known) await judge(name)
    if (bytes.length > 0) socket.write(bytes)
    lead(client, socket)
  } catch {
    socket.destroy()
    client.destroy()
  }
}

/** The first bytes of a client, and the server that they name. Rejects where they are none that could be looked at. */
async function readHello(client: Duplex, head: Buffer): Promise<{ bytes: Buffer; name: string | undefined }> {
  let bytes = head
  for (;;) {
    const said = readServerName(bytes)
    if (said === 'unreadable') throw new Error('The first message of TLS cannot be read.')
    if (said !== 'more') return { bytes, name: said.name }
    const next = await readSome(client)
    if (next === undefined) return { bytes, name: undefined }
    bytes = Buffer.concat([bytes, next])
  }
}

/** What has come, as soon as something has; undefined at the end. */
async function readSome(stream: Duplex): Promise<Buffer | undefined> {
  for (;;) {
    const piece: unknown = stream.read()
    if (piece instanceof Buffer) return piece
    if (stream.readableEnded) return undefined
    if (stream.destroyed) throw new Error('The connection broke off.')
    await new Promise<void>((resolve) => {
      const events = ['readable', 'end', 'close']
      const go = () => {
        for (const event of events) stream.off(event, go)
        resolve()
      }
      for (const event of events) stream.on(event, go)
    })
  }
}

/** One side that breaks off takes the other one with it; one that has said all still hears the rest. */
function lead(from: Duplex, to: Duplex): void {
  const end = (): void => {
    if (from.readableEnded) to.end()
    else to.destroy()
  }
  if (from.readableEnded || from.closed) return end()
  from.pipe(to)
  from.once('close', end)
}
