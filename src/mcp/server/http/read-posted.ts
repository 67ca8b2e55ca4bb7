import type { IncomingMessage } from 'node:http'
import { isJsonContentType } from '@modelcontextprotocol/server'
import { readBody } from '../web/read-body.ts'
import type { Refusal } from '../web/send-json.ts'

/** The JSON that a request posts, or why the request is refused. */
export async function readPosted(
  request: IncomingMessage,
  maxBodyBytes: number,
): Promise<{ body: unknown } | Refusal> {
  const unfit = checkMediaTypes(request)
  if (unfit !== undefined) return unfit
  const { readableEnded, body }: IncomingMessage & { body?: unknown } = request
  // A framework has read it before; more cannot come.
  if (readableEnded) return body === undefined ? alreadyRead : { body }
  const text = await readBody(request, maxBodyBytes)
  if (text === undefined)
    return {
      status: 413,
      message: `The body is larger than ${maxBodyBytes} bytes. Send less at a time.`,
      headers: { connection: 'close' },
    }
  try {
    return { body: JSON.parse(text) }
  } catch {
    return { status: 400, code: -32700, message: 'Parse error: the body is not valid JSON.' }
  }
}

const alreadyRead: Refusal = {
  status: 500,
  code: -32603,
  message: 'The body of this request was read before. Hand requests on before anything reads them.',
}

/** Answers come as JSON or as a stream. A page of another origin cannot send JSON without being asked first. */
function checkMediaTypes({ headers }: IncomingMessage): Refusal | undefined {
  if (!isJsonContentType(headers['content-type'] ?? null))
    return { status: 415, message: 'The Content-Type must be application/json.' }
  const accept = headers.accept ?? '*/*'
  const accepts = (type: string): boolean => accept.includes(type) || accept.includes('*/*')
  if (accepts('application/json') && accepts('text/event-stream')) return undefined
  return { status: 406, message: 'The Accept header must list application/json and text/event-stream.' }
}
