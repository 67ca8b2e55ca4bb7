import { isUtf8 } from 'node:buffer'

/** The text of a file that a person wrote, or why it is none. */
export function decodeUtf8(bytes: Uint8Array): { text: string } | { issue: string } {
  if (!isUtf8(bytes)) return { issue: `The file is not UTF-8 (${findForeign(bytes)}). Save it as UTF-8.` }
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)
  return text.startsWith('\ufeff')
    ? { issue: 'The file begins with a byte order mark. Save it as UTF-8 without one.' }
    : { text }
}

/** Editors of Windows write UTF-16 with a mark; anything else is told by the line. */
function findForeign(bytes: Uint8Array): string {
  const [first, second] = bytes
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) return 'it is UTF-16'
  let line = 1
  for (let start = 0; ; line += 1) {
    const end = bytes.indexOf(0x0a, start)
    if (end === -1 || !isUtf8(bytes.subarray(start, end))) return `line ${line}`
    start = end + 1
  }
}
