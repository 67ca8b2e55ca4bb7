import { createHash } from 'node:crypto'
import { detectBinary, sniffedBytes } from './detect-binary.ts'
import { findEncoding, type TextEncodingName } from './text-file.ts'

/** A file that was looked at: text as a stream of UTF-8 without byte order mark, or what can be said of a binary file. */
export type OpenText =
  | {
      kind: 'text'
      chunks: AsyncIterable<Uint8Array>
      encoding: TextEncodingName
      bom: boolean
      lineBreak: number
    }
  /** `digest` is left out for files of more than 64 MiB. */
  | { kind: 'binary'; mimeType: string; bytes: number; digest: string | undefined }

const maxDigestedBytes = 64 * 1024 * 1024
const lf = 0x0a
const cr = 0x0d

/** Looks at the first bytes of a file and says how to go on. Read `chunks` to its end or stop it: then the file is closed. */
export async function openText(file: AsyncIterable<Uint8Array>, bytes: number): Promise<OpenText> {
  const reader = file[Symbol.asyncIterator]()
  const head = await readHead(reader)
  const whole = putBack(head, reader)
  const mimeType = detectBinary(head)
  if (mimeType !== undefined) return { kind: 'binary', mimeType, ...(await measure(whole, bytes)) }
  const { encoding, bom } = findEncoding(head)
  // A file of the old Mac kind has CR alone; elsewhere CR is part of its line, as search and diffs count lines.
  const isMac = encoding === 'utf-8' && head.includes(cr) && !head.includes(lf)
  const chunks = encoding === 'utf-8' ? skipBytes(whole, bom ? 3 : 0) : toUtf8(whole, encoding)
  return { kind: 'text', chunks, encoding, bom, lineBreak: isMac ? cr : lf }
}

async function readHead(reader: AsyncIterator<Uint8Array>): Promise<Buffer> {
  const pieces: Uint8Array[] = []
  let size = 0
  while (size < sniffedBytes) {
    const next = await reader.next()
    if (next.done === true) break
    pieces.push(next.value)
    size += next.value.length
  }
  return Buffer.concat(pieces)
}

async function* putBack(head: Uint8Array, reader: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    if (head.length > 0) yield head
    for (let next = await reader.next(); next.done !== true; next = await reader.next()) yield next.value
  } finally {
    await reader.return?.()
  }
}

async function* skipBytes(chunks: AsyncIterable<Uint8Array>, count: number): AsyncGenerator<Uint8Array> {
  let left = count
  for await (const chunk of chunks) {
    yield chunk.subarray(left)
    left = 0
  }
}

async function* toUtf8(
  chunks: AsyncIterable<Uint8Array>,
  encoding: TextEncodingName,
): AsyncGenerator<Uint8Array> {
  const decoder = new TextDecoder(encoding)
  for await (const chunk of chunks) yield Buffer.from(decoder.decode(chunk, { stream: true }))
  yield Buffer.from(decoder.decode())
}

async function measure(
  chunks: AsyncGenerator<Uint8Array>,
  bytes: number,
): Promise<{ bytes: number; digest: string | undefined }> {
  const hash = createHash('sha256')
  let read = 0
  if (bytes <= maxDigestedBytes) {
    for await (const chunk of chunks) {
      hash.update(chunk)
      read += chunk.length
      if (read > maxDigestedBytes) break
    }
    if (read <= maxDigestedBytes) return { bytes: read, digest: `sha256:${hash.digest('hex')}` }
  }
  await chunks.return(undefined)
  return { bytes: Math.max(bytes, read), digest: undefined }
}
