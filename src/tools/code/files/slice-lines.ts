/** Which lines of a stream are wanted. */
export interface LineWindow {
  /** Number of the first line, from 1 on. */
  startLine: number
  maxLines: number
  /** Longer lines are cut at the last whole code point within these bytes. */
  maxLineBytes: number
  /** The byte that ends a line: LF, or CR in a file that has no LF. */
  lineBreak: number
}

/** One line: its bytes without the ending. */
export interface SlicedLine {
  number: number
  bytes: Buffer
  ending: '' | '\n' | '\r\n' | '\r'
  cut: boolean
}

export interface LineSlice {
  lines: readonly SlicedLine[]
  /** Number of lines of the whole stream; undefined if the slice ended before. */
  totalLines: number | undefined
  /** Whether the whole stream ends with a line ending; undefined if the slice ended before. */
  finalNewline: boolean | undefined
}

const cr = 0x0d

/**
 * Reads the wanted lines of a stream of UTF-8 and stops as soon as it knows that more follow. Memory is bounded by the
 * wanted lines, however long the stream or one line is.
 */
export async function sliceLines(chunks: AsyncIterable<Uint8Array>, window: LineWindow): Promise<LineSlice> {
  const lines: SlicedLine[] = []
  const lastLine = window.startLine + window.maxLines - 1
  const line = createLine(window)
  let number = 1
  for await (const chunk of chunks) {
    let from = 0
    while (from < chunk.length) {
      if (number > lastLine) return { lines, totalLines: undefined, finalNewline: undefined }
      const end = chunk.indexOf(window.lineBreak, from)
      // Lines before the wanted ones are only counted: far down in a file there are many.
      const isWanted = number >= window.startLine
      if (isWanted || end < 0) line.add(chunk, from, end < 0 ? chunk.length : end)
      if (end < 0) break
      if (isWanted) lines.push(line.end(number, true))
      number++
      if (isWanted || line.length > 0 || number === window.startLine) line.reset(number >= window.startLine)
      from = end + 1
    }
  }
  const open = line.length > 0
  if (open && number >= window.startLine) lines.push(line.end(number, false))
  const totalLines = open ? number : number - 1
  return { lines, totalLines, finalNewline: totalLines > 0 && !open }
}

/** Gathers one line, at most a byte more than wanted: a CR before the LF does not count. */
function createLine({ startLine, maxLineBytes, lineBreak }: LineWindow) {
  let kept: Uint8Array[] = []
  let keptBytes = 0
  let length = 0
  let lastByte = 0
  let wanted = startLine === 1
  const line = {
    get length() {
      return length
    },
    reset(isWanted: boolean) {
      kept = []
      keptBytes = length = lastByte = 0
      wanted = isWanted
    },
    add(chunk: Uint8Array, from: number, to: number) {
      if (to <= from) return
      const room = Math.min(to, from + maxLineBytes + 1 - keptBytes)
      // Copied: the reader of the file may use a chunk again.
      if (wanted && room > from) kept.push(Buffer.from(chunk.subarray(from, room)))
      if (wanted) keptBytes += Math.max(0, room - from)
      length += to - from
      lastByte = chunk[to - 1] ?? 0
    },
    end(number: number, broken: boolean): SlicedLine {
      const crlf = broken && lastByte === cr
      const size = crlf ? length - 1 : length
      const bytes = cutBytes(Buffer.concat(kept), Math.min(size, maxLineBytes), size > maxLineBytes)
      const ending = !broken ? '' : crlf ? '\r\n' : lineBreak === cr ? '\r' : '\n'
      return { number, bytes, ending, cut: size > maxLineBytes }
    },
  }
  return line
}

function cutBytes(bytes: Buffer, size: number, atCodePoint: boolean): Buffer {
  let end = size
  // Bytes of the form 10xxxxxx go on with a character; four bytes are the longest.
  if (atCodePoint) while (end > size - 4 && end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--
  return bytes.subarray(0, end)
}
