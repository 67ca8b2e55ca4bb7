import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { ToolFailure } from '../../contract/errors.ts'
import type { JudgedConnection } from './connect-judged.ts'
import { toRefusal } from './refusal.ts'

/** Connects to what a URL names. */
export type Connect = (url: string, signal: AbortSignal) => Promise<JudgedConnection>

/** Answers `CONNECT host:port`: from then on the bytes of both sides go to the other one as they come, and no faster than it takes them. */
export async function relayTunnel(
  request: IncomingMessage,
  { client, head }: { client: Duplex; head: Buffer },
  connect: Connect,
): Promise<void> {
  const left = new AbortController()
  client.once('close', () => left.abort())
  try {
    const { socket } = await connect(toUrl(request.url ?? ''), left.signal)
    client.write('HTTP/1.1 200 Connection established\r\n\r\n')
    if (head.length > 0) socket.write(head)
    join(client, socket)
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

/** One side that breaks off takes the other one with it; one that has said all still hears the rest. */
function join(one: Duplex, other: Duplex): void {
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    from.pipe(to)
    from.once('close', () => (from.readableEnded ? to.end() : to.destroy()))
  }
}
