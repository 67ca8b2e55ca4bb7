import type { Dispatcher } from 'undici'
import { normaliseMethod } from '../../kit/normalise-method.ts'
import { ordinaryHeaders } from './base/ordinary-headers.ts'
import { takeAnswer } from './take-answer.ts'

/**
 * A request in the form of the web's own `fetch`, without what that does beside it: no redirect is followed, nothing is kept, and what is
 * sent is sent whole. The answer is unpacked and counted.
 */
export async function askOver(web: Dispatcher, url: URL, init: RequestInit = {}): Promise<Response> {
  const method = normaliseMethod(init.method ?? 'GET')
  const { body, type } = typeof init.body === 'string' ? asText(init.body) : await toSent(init.body)
  const headers = toFields(init.headers, type)
  const signal = init.signal ?? undefined
  signal?.throwIfAborted()
  const { origin, pathname, search } = url
  const request = { origin, path: pathname + search, method, headers, body }
  return takeAnswer((handler) => web.dispatch(request, handler), { method, signal })
}

interface Sent {
  readonly body: string | Uint8Array | null
  /** What it is if no header names another. */
  readonly type: string | null
}

const asText = (body: string): Sent => ({ body, type: 'text/plain;charset=UTF-8' })

async function toSent(body: RequestInit['body']): Promise<Sent> {
  if (body === undefined || body === null) return { body: null, type: null }
  const read = new Response(body)
  return { body: new Uint8Array(await read.arrayBuffer()), type: read.headers.get('content-type') }
}

/** Names and values in turn. */
function toFields(given: RequestInit['headers'], type: string | null): string[] {
  const headers = given instanceof Headers ? given : new Headers(given)
  const fields: string[] = []
  for (const [name, value] of headers) fields.push(name, value)
  for (const [name, value] of ordinaryFields) if (!headers.has(name)) fields.push(name, value)
  if (type !== null && !headers.has('content-type')) fields.push('content-type', type)
  return fields
}

const ordinaryFields = Object.entries(ordinaryHeaders)
