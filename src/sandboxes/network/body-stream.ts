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

/** A body on its way to its reader. */
export interface BodyStream {
  readonly stream: ReadableStream<Uint8Array>
  /** What comes after the end is dropped. */
  push(piece: Uint8Array): void
  end(): void
  fail(error: unknown): void
}

/** What a body is, and who is told of its end. */
export interface BodyOptions {
  /** Whether it is a stream of events, which may go on for ever. */
  readonly isEvents: boolean
  /** Told once it was read to its end, was cancelled or failed. */
  readonly onDone?: (() => void) | undefined
}

/** A body that is counted while it comes. It waits for its reader, and a reader that cancels it ends its flow. */
export function createBodyStream(flow: Flow, { isEvents, onDone }: BodyOptions): BodyStream {
  const count = createCount({ isEvents })
  let open: ReadableStreamDefaultController<Uint8Array> | undefined
  let hasAll = false
  const leave = (): void => {
    open = undefined
    onDone?.()
  }
  /** What lies ready can still fail: the end is told when all is read. */
  const closeWhenRead = (): void => {
    if (open?.desiredSize !== readyBytes) return
    open.close()
    leave()
  }
  const stream = new ReadableStream<Uint8Array>(
    {
      start: (controller) => void (open = controller),
      pull: () => (hasAll ? closeWhenRead() : flow.resume()),
      cancel(reason) {
        leave()
        flow.abort(toError(reason))
      },
    },
    { highWaterMark: readyBytes, size: (piece) => piece.byteLength },
  )
  const fail = (error: unknown): void => {
    if (open === undefined) return
    open.error(error)
    leave()
  }
  return {
    stream,
    push(piece) {
      if (open === undefined || hasAll) return
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
      hasAll = true
      closeWhenRead()
    },
    fail,
  }
}

/** Counts a body piece by piece; returns an error when it gets too large. Of a stream of events, each is counted alone. */
function createCount({ isEvents }: { isEvents: boolean }): (piece: Uint8Array) => Error | undefined {
  let size = 0
  let last: number | undefined
  return (piece) => {
    const end = isEvents ? endOfEvents(piece, last) : -1
    last = piece.at(-1) ?? last
    size = end < 0 ? size + piece.length : piece.length - end
    return checkSize(size)
  }
}

/** The error of a body that is `size` bytes large, if that is too large. */
export function checkSize(size: number): Error | undefined {
  return size > maxBytes ? new Error(`The answer is larger than ${maxBytes} bytes.`) : undefined
}

const lf = 10
const cr = 13

/**
 * Where the last empty line of a piece ends, or -1. `before` is the byte before the piece. Looked for from its end, since that is mostly
 * the end of an event or the midst of a long line.
 */
function endOfEvents(piece: Uint8Array, before: number | undefined): number {
  for (let at = Math.max(piece.lastIndexOf(lf), piece.lastIndexOf(cr)); at >= 0; at--) {
    const byte = piece[at]
    if (byte !== lf && byte !== cr) continue
    const previous = at === 0 ? before : piece[at - 1]
    // A line end right after a line end; CR and LF together are one.
    if (previous === lf || (previous === cr && byte === cr)) return at
  }
  return -1
}

/** Why something is ended, which is for its owner to say in any form. */
export function toError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error('It is not wanted any more.', { cause: reason })
}
