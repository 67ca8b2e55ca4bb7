/** 70 parts of a hundred come from the start, the rest from the end. */
const headShare = 0.7

/** Head and tail of a text within a number of UTF-8 bytes, cut at code points, with a line between them that says what is missing and where it is. */
export function shortenText(
  text: string,
  { maxBytes, whole }: { maxBytes: number; whole: string },
): { text: string; shownBytes: number } {
  const bytes = Buffer.from(text)
  if (bytes.length <= maxBytes) return { text, shownBytes: bytes.length }
  const headEnd = cutBefore(bytes, Math.floor(maxBytes * headShare))
  const tailStart = cutAfter(bytes, bytes.length - (maxBytes - Math.floor(maxBytes * headShare)))
  const head = bytes.subarray(0, headEnd).toString()
  const tail = bytes.subarray(tailStart).toString()
  const missing = tailStart - headEnd
  return {
    text: `${head}\n… ${missing} of ${bytes.length} bytes left out here; ${whole} …\n${tail}`,
    shownBytes: bytes.length - missing,
  }
}

/** The nearest start of a code point at or before the offset. */
function cutBefore(bytes: Uint8Array, offset: number): number {
  let at = offset
  while (at > 0 && isContinuation(bytes[at])) at--
  return at
}

function cutAfter(bytes: Uint8Array, offset: number): number {
  let at = offset
  while (at < bytes.length && isContinuation(bytes[at])) at++
  return at
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80
}
