import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { atEnd } from './at-end.ts'

/** A real server on loopback. */
export interface WebServer {
  readonly port: number
  /** Path and query of each request, in order. */
  readonly hits: string[]
  /** The headers of each request, in order. */
  readonly headers: readonly IncomingMessage['headers'][]
}

/** What one path answers: a page, or a function that answers. */
export type Route = string | ((response: ServerResponse, request: IncomingMessage) => void)

/** Serves these paths on an address of loopback, until the test ends; any other path is 404. */
export async function serveWeb(
  routes: Readonly<Record<string, Route>>,
  { address = '127.0.0.1', port = 0 }: { address?: string; port?: number } = {},
): Promise<WebServer> {
  const hits: string[] = []
  const headers: IncomingMessage['headers'][] = []
  const answer: RequestListener = (request, response) => {
    hits.push(request.url ?? '')
    headers.push(request.headers)
    const route = routes[new URL(request.url ?? '/', 'http://server').pathname]
    if (typeof route === 'function') return route(response, request)
    const type = route === undefined || route.startsWith('<') ? 'text/html' : 'text/plain'
    response.writeHead(route === undefined ? 404 : 200, { 'content-type': `${type}; charset=utf-8` })
    response.end(route ?? '<p>There is nothing here.</p>')
  }
  const server = createServer(answer)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, address, resolve)
  })
  atEnd(() => {
    server.closeAllConnections()
    server.close()
  })
  return { port: (server.address() as AddressInfo).port, hits, headers }
}

/** Answers with a redirect. */
export function redirectTo(location: string, status = 302): Route {
  return (response) => {
    response.writeHead(status, { location })
    response.end('<p>Elsewhere.</p>')
  }
}

/** Answers with a redirect to the same port of another host. */
export function redirectToHost(host: string, path: string): Route {
  return (response, request) => {
    response.writeHead(302, { location: `http://${host}:${request.socket.localPort}${path}` })
    response.end()
  }
}

/** Answers with this body and these headers. */
export function give(body: string | Uint8Array, headers: Readonly<Record<string, string>>): Route {
  return (response) => {
    response.writeHead(200, headers)
    response.end(body)
  }
}
