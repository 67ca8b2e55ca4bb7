/** A body, or one event of a stream of events, larger than this ends the connection. */
const maxBytes = 32 * 1024 * 1024

/** The same response with a body that ends with an error where it gets too large. A stream of events may go on for ever. */
export function limitBody(response: Response): Response {
  const { body, status, statusText, headers } = response
  if (body === null) return response
  const isStream = /^text\/event-stream\b/i.test(headers.get('content-type') ?? '')
  let size = 0
  const limited = body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(piece, controller) {
        // An event ends with an empty line, so that it holds a line end at least.
        const end = isStream ? piece.lastIndexOf(10) : -1
        size = end < 0 ? size + piece.length : piece.length - end
        if (size > maxBytes) controller.error(new Error(`The answer is larger than ${maxBytes} bytes.`))
        else controller.enqueue(piece)
      },
    }),
  )
  return new Response(limited, { status, statusText, headers })
}
