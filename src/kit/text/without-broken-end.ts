/** Without the first bytes of a code point whose rest was cut off. */
export function withoutBrokenEnd<Bytes extends Uint8Array>(bytes: Bytes): Bytes {
  let start = bytes.length - 1
  while (start > bytes.length - 4 && isContinuation(bytes[start])) start--
  const lead = bytes[start] ?? 0
  const needed = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1
  // A part of a Buffer is a Buffer.
  return start >= 0 && needed > bytes.length - start ? (bytes.subarray(0, start) as Bytes) : bytes
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0b1100_0000) === 0b1000_0000
}
