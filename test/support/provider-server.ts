import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { atEnd } from './at-end.ts'

/** What a provider sends: the data of its events, or in their place a status with a body. */
export type Sent =
  | readonly object[]
  | { readonly status: number; readonly body: object; readonly headers?: IncomingHttpHeaders }

/** A request as a provider gets it. */
export interface Got {
  readonly path: string
  readonly body: Readonly<Record<string, unknown>>
}

/** A server that speaks the streaming HTTP of a provider of models: one answer a request, in order. */
export async function serveModel(answers: readonly Sent[]): Promise<{ url: string; got: Got[] }> {
  const got: Got[] = []
  const server = createServer((request, response) => {
    let text = ''
    request.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
    request.on('end', () => {
      const sent = answers[got.length]
      got.push({ path: request.url ?? '', body: JSON.parse(text) as Got['body'] })
      if (sent === undefined) return void response.writeHead(500).end('No answer is left.')
      if ('status' in sent) {
        const { status, body, headers } = sent
        response.writeHead(status, { 'content-type': 'application/json', ...headers })
        return void response.end(JSON.stringify(body))
      }
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      for (const event of sent) {
        const name = 'type' in event && typeof event.type === 'string' ? `event: ${event.type}\n` : ''
        response.write(`${name}data: ${JSON.stringify(event)}\n\n`)
      }
      response.end()
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  atEnd(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}/v1`, got }
}
