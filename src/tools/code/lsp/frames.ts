/** The longest head of a message, and the longest message, in bytes. `vscode-jsonrpc` bounds neither. */
const maxHeadBytes = 4096
const maxMessageBytes = 16 * 1024 * 1024

/** One JSON-RPC message in the framing of the Language Server Protocol. */
export function toFrame(message: object): Buffer {
  const body = Buffer.from(JSON.stringify({ jsonrpc: '2.0', ...message }))
  return Buffer.concat([Buffer.from(`Content-Length: ${body.length}\r\n\r\n`), body])
}

/**
 * Reads such messages out of bytes, however they are cut, in memory bounded by one message. What it returns throws if the bytes are not
 * messages or one is too long; it is of no use after that.
 */
export function createFrameReader(take: (message: unknown) => void): (bytes: Buffer) => void {
  let head = Buffer.alloc(0)
  let parts: Buffer[] = []
  let missing = 0

  const readHead = (bytes: Buffer): Buffer => {
    const start = bytes.subarray(0, maxHeadBytes)
    const seen = head.length === 0 ? start : Buffer.concat([head, start])
    const end = seen.indexOf('\r\n\r\n')
    if (end < 0) {
      if (seen.length >= maxHeadBytes) throw new Error('it wrote something that is not a message')
      head = Buffer.from(seen)
      return bytes.subarray(bytes.length)
    }
    const rest = bytes.subarray(end + 4 - head.length)
    head = Buffer.alloc(0)
    missing = lengthIn(seen.toString('latin1', 0, end))
    return rest
  }
  const readBody = (bytes: Buffer): Buffer => {
    const part = bytes.subarray(0, missing)
    missing -= part.length
    // The caller that gave the bytes may use their memory again.
    parts.push(Buffer.from(part))
    if (missing === 0) {
      const body = Buffer.concat(parts).toString()
      parts = []
      take(JSON.parse(body))
    }
    return bytes.subarray(part.length)
  }
  return (bytes) => {
    for (let rest = bytes; rest.length > 0;) rest = missing === 0 ? readHead(rest) : readBody(rest)
  }
}

function lengthIn(head: string): number {
  const length = Number(/^content-length:[ \t]*(\d{1,10})[ \t]*$/im.exec(head)?.[1] ?? 0)
  if (length === 0) throw new Error('it wrote something that is not a message')
  if (length > maxMessageBytes) throw new Error(`it wrote a message of ${length} bytes`)
  return length
}
