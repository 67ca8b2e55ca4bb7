import type { OriginClient } from '../../../contract/mcp/tool-feed.ts'

/** Takes an answer before the SDK reads it. False: it is for the SDK. */
export type TakeAnswer = (message: unknown) => boolean

/**
 * Requests to a server on the web whose responses are read here for as long as they have nothing but answers that are taken. From the first
 * thing on that is not one, the SDK reads. If there is none, it hears that the server took the message.
 */
export function readAnswers(request: OriginClient['request'], take: TakeAnswer): OriginClient['request'] {
  return async (url, init) => {
    const response = await request(url, init)
    const { body, status, headers } = response
    if (init?.method !== 'POST' || status !== 200 || body === null) return response
    const type = headers.get('content-type')
    if (type === 'application/json') return readWhole(response, take)
    return type?.startsWith('text/event-stream') === true ? readEvents(response, body, take) : response
  }
}

/** It has no body, so that it can be read any number of times. The first `Response` of a process loads all of `fetch`, which takes a while. */
const accept = (): Response => (accepted ??= new Response(null, { status: 202 }))
let accepted: Response | undefined

async function readWhole(response: Response, take: TakeAnswer): Promise<Response> {
  const text = await response.text()
  return takes(text, take) ? accept() : new Response(text, response)
}

async function readEvents(
  response: Response,
  body: ReadableStream<Uint8Array>,
  take: TakeAnswer,
): Promise<Response> {
  const reader = body.getReader()
  for (;;) {
    let read: Awaited<ReturnType<typeof reader.read>>
    try {
      read = await reader.read()
    } catch (error) {
      return new Response(restOf(reader, Promise.reject(error)), response)
    }
    if (read.done) return accept()
    const left = takeEvents(Buffer.from(read.value), take)
    if (left.length > 0) return new Response(restOf(reader, Promise.resolve(left)), response)
  }
}

/** What is left of these bytes from the first event on that is not an answer, or not whole. */
function takeEvents(bytes: Buffer, take: TakeAnswer): Uint8Array {
  let at = 0
  for (;;) {
    const end = bytes.indexOf('\n\n', at)
    if (end < 0) return bytes.subarray(at)
    const data = plainEvent.exec(bytes.toString('utf8', at, end))?.[1]
    if (data === undefined || !takes(data, take)) return bytes.subarray(at)
    at = end + 2
  }
}

/** An event that has a message and nothing else, such as an id by which the SDK would go on after a loss. */
const plainEvent = /^(?:event: message\n)?data: (.+)$/

function takes(text: string, take: TakeAnswer): boolean {
  try {
    return take(JSON.parse(text))
  } catch {
    return false
  }
}

/** First this, and then what the reader has. */
function restOf(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  first: Promise<Uint8Array>,
): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start: async (controller) => controller.enqueue(await first),
    async pull(controller) {
      const { done, value } = await reader.read()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    cancel: (reason) => reader.cancel(reason),
  })
}
