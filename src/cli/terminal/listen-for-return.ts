import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { SetupError } from '../../contract/base/errors.ts'

/** A place on this machine that a browser is led back to. */
export interface ReturnPlace {
  readonly redirectUrl: string
  /** The first URL that a browser comes back with and that carries this `state`. Others are turned away. */
  wait(state: string): Promise<string>
  close(): void
}

const path = '/callback'
const host = '127.0.0.1'

/** Listens on 127.0.0.1 only, on this port or on any free one. Throws a SetupError where the port is taken. */
export async function listenForReturn(port = 0): Promise<ReturnPlace> {
  const came = Promise.withResolvers<string>()
  let expected: string | undefined
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    const own = portOf(server)
    // A foreign page may send a browser here under a name of its own.
    const isOurs = request.method === 'GET' && request.headers.host === `${host}:${own}`
    const url = isOurs ? URL.parse(request.url ?? '', `http://${host}:${own}`) : null
    if (url?.pathname !== path || expected === undefined || url.searchParams.get('state') !== expected)
      return show(response, 404, 'There is nothing here.')
    show(response, 200, 'Handrail has it. This page can be closed; the terminal says what came of it.')
    came.resolve(url.href)
  }
  const server = createServer({ maxHeaderSize: 64 * 1024 }, answer)
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(toTaken(error, port)))
    server.listen(port, host, resolve)
  })
  return {
    redirectUrl: `http://${host}:${portOf(server)}${path}`,
    wait(state) {
      expected = state
      return came.promise
    },
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

function portOf(server: Server): number {
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}

function toTaken(error: Error, port: number): Error {
  if (!('code' in error) || error.code !== 'EADDRINUSE') return error
  return new SetupError(
    'port_in_use',
    `Another program listens on port ${port} of 127.0.0.1, which "redirect_port" in mcp.json names. End that program, or name another port.`,
  )
}

function show(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, {
    'content-type': 'text/plain; charset=utf-8',
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    connection: 'close',
  })
  response.end(`${text}\n`)
}
