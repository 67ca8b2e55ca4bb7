/** A body, or one event of a stream of events, larger than this ends the connection. */
const maxBytes = 32 * 1024 * 1024
/** So much of a body lies ready before its server has to wait. */
const readyBytes = 64 * 1024

/** Where a body comes from. */
export interface Flow {
  pause(): void
  resume(): void
  abort(reason: Error): void
}

/** A body on its way to whoever reads it. */
export interface BodyStream {
  readonly stream: ReadableStream<Uint8Array>
  /** What comes after the end is dropped. */
  push(piece: Uint8Array): void
  end(): void
  fail(error: unknown): void
}

/** A body that is counted while it comes. It waits for its reader, and whoever cancels it ends its flow. */
export function createBodyStream(flow: Flow, { isEvents }: { isEvents: boolean }): BodyStream {
  const count = createCount({ isEvents })
  let open: ReadableStreamDefaultController<Uint8Array> | undefined
  const stream = new ReadableStream<Uint8Array>(
    {
      start: (controller) => void (open = controller),
      pull: () => flow.resume(),
      cancel(reason) {
        open = undefined
        flow.abort(toError(reason))
      },
    },
    { highWaterMark: readyBytes, size: (piece) => piece.byteLength },
  )
  const fail = (error: unknown): void => {
    open?.error(error)
    open = undefined
  }
  return {
    stream,
    push(piece) {
      if (open === undefined) return
      const fault = count(piece)
      if (fault === undefined) {
        open.enqueue(piece)
        if ((open.desiredSize ?? 0) <= 0) flow.pause()
      } else {
        fail(fault)
        flow.abort(fault)
      }
    },
    end() {
      open?.close()
      open = undefined
    },
    fail,
  }
}

/** Counts a body piece by piece; gives an error where it gets too large. A stream of events may go on for ever. */
export function createCount({ isEvents }: { isEvents: boolean }): (piece: Uint8Array) => Error | undefined {
  let size = 0
  return (piece) => {
    // An event ends with an empty line, so that it holds a line end at least.
    const end = isEvents ? piece.lastIndexOf(10) : -1
    size = end < 0 ? size + piece.length : piece.length - end
    return size > maxBytes ? new Error(`The answer is larger than ${maxBytes} bytes.`) : undefined
  }
}

/** Why something is ended, which is for its owner to say in any form. */
export function toError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error('It is not wanted any more.', { cause: reason })
}
