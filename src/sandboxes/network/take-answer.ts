import type { Dispatcher } from 'undici'
import { toError, type BodyStream } from './body-stream.ts'
import { openBody } from './open-body.ts'
import { toHeaders } from './base/to-headers.ts'

/** What an answer is an answer to. */
interface Asked {
  readonly method: string
  readonly signal: AbortSignal | undefined
}

/** Their answers have no body, whatever is sent. */
const bodiless: readonly number[] = [204, 205, 304]

/** An answer that the caller did not begin to read for so long does not hold its connection any more. */
const unreadMs = 60_000

/**
 * The answer to what `send` sends, as soon as its head is there. As with the web's own `fetch`, it rejects with the reason of the signal or
 * with a `TypeError` that has a cause, and what goes wrong later is an error of the body.
 */
export function takeAnswer(
  send: (handler: Dispatcher.DispatchHandler) => void,
  { method, signal }: Asked,
): Promise<Response> {
  const { promise, resolve, reject } = Promise.withResolvers<Response>()
  let connection: Dispatcher.DispatchController | undefined
  let body: BodyStream | undefined
  const abort = (): void => {
    const reason: unknown = signal?.reason
    reject(reason)
    body?.fail(reason)
    connection?.abort(toError(reason))
  }
  signal?.addEventListener('abort', abort, { once: true })
  let unread: NodeJS.Timeout | undefined
  const leave = (): void => {
    clearTimeout(unread)
    signal?.removeEventListener('abort', abort)
  }
  const leaveUnread = (): void => {
    if (body?.stream.locked === true) return
    if (connection === undefined) leave()
    else connection.abort(new Error(`The answer was not read within ${unreadMs / 1000} s.`))
  }
  send({
    onRequestStart(controller) {
      connection = controller
      if (signal?.aborted === true) abort()
    },
    onResponseStart(controller, ...[status, fields, statusText = '']) {
      if (status < 200) return
      const headers = toHeaders(fields)
      if (method !== 'HEAD' && !bodiless.includes(status)) {
        body = openBody(controller, headers, leave)
        unread = setTimeout(leaveUnread, unreadMs).unref()
      }
      resolve(new Response(body?.stream, { status, statusText, headers }))
    },
    onResponseData: (_controller, piece) => body?.push(piece),
    onResponseEnd() {
      connection = undefined
      if (body === undefined) leave()
      else body.end()
    },
    onResponseError(_controller, cause) {
      leave()
      reject(new TypeError('fetch failed', { cause }))
      body?.fail(new TypeError('terminated', { cause }))
    },
  })
  return promise
}
