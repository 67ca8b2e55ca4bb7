import type { IncomingMessage, ServerResponse } from 'node:http'
import { readBody } from './read-body.ts'

/** The request as a fetch `Request`; undefined if its body is over `maxBytes`. */
export async function toFetchRequest(
  request: IncomingMessage,
  { origin, maxBytes }: { origin: string; maxBytes: number },
): Promise<Request | undefined> {
  const { method = 'GET', url = '/' } = request
  const hasBody = method !== 'GET' && method !== 'HEAD'
  const body = hasBody ? await readBody(request, maxBytes) : undefined
  if (hasBody && body === undefined) return undefined
  const headers = new Headers()
  for (const [name, value] of Object.entries(request.headers))
    if (value !== undefined) headers.set(name, Array.isArray(value) ? value.join(', ') : value)
  return new Request(new URL(url.startsWith('/') ? url : `/${url}`, origin), {
    method,
    headers,
    ...(body !== undefined && { body }),
  })
}

/** Sends a fetch `Response`. A stream goes on until it ends, or the client is gone. */
export async function sendFetchResponse(response: ServerResponse, answer: Response): Promise<void> {
  response.writeHead(answer.status, [...answer.headers].flat())
  if (answer.body === null) return void response.end()
  response.flushHeaders()
  const reader = answer.body.getReader()
  response.once('close', () => void reader.cancel().catch(() => {}))
  for (;;) {
    const { done, value } = await reader.read()
    if (done || response.destroyed) break
    if (!response.write(value)) await drained(response)
  }
  response.end()
}

function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    response.once('drain', resolve)
    response.once('close', resolve)
  })
}
