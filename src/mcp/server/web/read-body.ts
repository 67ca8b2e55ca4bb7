import type { IncomingMessage } from 'node:http'

/** How long the rest of a refused body is thrown away before the connection is cut. */
const discardMs = 2_000

/** The body as text (UTF-8), or undefined if it is over `maxBytes`; then the rest is being thrown away. */
export async function readBody(request: IncomingMessage, maxBytes: number): Promise<string | undefined> {
  const chunks: Buffer[] = []
  let bytes = Number(request.headers['content-length'] ?? 0) > maxBytes ? Infinity : 0
  if (bytes <= maxBytes) {
    for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      bytes += chunk.length
      if (bytes > maxBytes) break
      chunks.push(chunk)
    }
  }
  if (bytes <= maxBytes) return Buffer.concat(chunks).toString('utf8')
  discard(request)
  return undefined
}

/** A client that still sends would not read the refusal if the connection broke under it. */
function discard(request: IncomingMessage): void {
  const cut = setTimeout(() => request.destroy(), discardMs)
  request.once('close', () => clearTimeout(cut))
  request.on('error', () => clearTimeout(cut))
  request.resume()
}
