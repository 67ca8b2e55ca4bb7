/** A text file in memory: its text without a byte order mark, and the way back to bytes. */
export interface TextFile {
  readonly text: string
  readonly encoding: TextEncodingName
  readonly bom: boolean
  /** Bytes of another text in the same encoding, with the byte order mark kept. */
  encode(text: string): Uint8Array
}

export type TextEncodingName = 'utf-8' | 'utf-16le' | 'utf-16be'

/** The bytes as text, if reading and writing them leads to the same bytes again; undefined for anything else. */
export function decodeTextFile(bytes: Uint8Array): TextFile | undefined {
  const { encoding, bom } = findEncoding(bytes)
  const text = decodeStrictly(bytes, encoding)
  if (text === undefined || text.includes('\0')) return undefined
  const file: TextFile = {
    text: bom ? text.slice(1) : text,
    encoding,
    bom,
    encode: (changed) => encodeText(bom ? `\uFEFF${changed}` : changed, encoding),
  }
  return file
}

/** What the first bytes say: a byte order mark decides, and without one text is UTF-8. */
export function findEncoding(head: Uint8Array): { encoding: TextEncodingName; bom: boolean } {
  const [first, second, third] = head
  if (first === 0xef && second === 0xbb && third === 0xbf) return { encoding: 'utf-8', bom: true }
  if (first === 0xfe && second === 0xff) return { encoding: 'utf-16be', bom: true }
  // FF FE 00 00 is UTF-32, which is not read here.
  const utf32 = third === 0 && head[3] === 0
  if (first === 0xff && second === 0xfe && !utf32) return { encoding: 'utf-16le', bom: true }
  return { encoding: 'utf-8', bom: false }
}

function decodeStrictly(bytes: Uint8Array, encoding: TextEncodingName): string | undefined {
  try {
    return new TextDecoder(encoding, { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    // Not text in this encoding: that is the answer, not an error.
    return undefined
  }
}

function encodeText(text: string, encoding: TextEncodingName): Uint8Array {
  if (encoding === 'utf-8') return Buffer.from(text, 'utf8')
  const bytes = Buffer.from(text, 'utf16le')
  return encoding === 'utf-16le' ? bytes : bytes.swap16()
}

/** A file that is not there yet: UTF-8 without a byte order mark. */
export const emptyTextFile: TextFile = {
  text: '',
  encoding: 'utf-8',
  bom: false,
  encode: (text) => encodeText(text, 'utf-8'),
}
