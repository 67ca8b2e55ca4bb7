/** The name of the server that the first bytes of a connection say; undefined if they say none. */
export type SaidName = { readonly name: string | undefined }

const handshake = 22
const clientHello = 1
/** A hello that needs more has none that could be looked at. */
export const longestHello = 64 * 1024

/**
 * Reads the name of the server (RFC 6066) from the start of what a client says. `more` where the bytes may still become one; `unreadable` for
 * a hello of TLS that is none.
 */
export function readServerName(bytes: Buffer): SaidName | 'more' | 'unreadable' {
  if (bytes.length === 0) return 'more'
  if (bytes[0] !== handshake) return { name: undefined }
  const records = joinRecords(bytes)
  if (records === 'unreadable') return records
  if (records.length >= 1 && records[0] !== clientHello) return 'unreadable'
  const length = records.length < 4 ? Infinity : records.readUIntBE(1, 3)
  if (length > longestHello && records.length >= 4) return 'unreadable'
  if (records.length < 4 + length) return bytes.length > longestHello ? 'unreadable' : 'more'
  try {
    return { name: findName(records.subarray(4, 4 + length)) }
  } catch (error) {
    if (error instanceof RangeError) return 'unreadable'
    throw error
  }
}

/** What the records of the handshake hold, as far as they are there. */
function joinRecords(bytes: Buffer): Buffer | 'unreadable' {
  const parts: Buffer[] = []
  for (let at = 0; at + 5 <= bytes.length;) {
    if (bytes[at] !== handshake) return 'unreadable'
    const end = at + 5 + bytes.readUInt16BE(at + 3)
    parts.push(bytes.subarray(at + 5, Math.min(end, bytes.length)))
    at = end
  }
  return Buffer.concat(parts)
}

/** Throws a `RangeError` if a length leads out of the bytes, or is none that RFC 8446 (4.1.2) allows. */
function findName(hello: Buffer): string | undefined {
  // The version, a random number, then three lists, each behind its length.
  let at = 2 + 32
  if (hello.readUInt8(at) > 32) throw new RangeError('The id of the session is too long.')
  at += 1 + hello.readUInt8(at)
  at += 2 + hello.readUInt16BE(at)
  at += 1 + hello.readUInt8(at)
  if (at === hello.length) return undefined
  const end = at + 2 + hello.readUInt16BE(at)
  if (end !== hello.length) throw new RangeError('The extensions do not fill the hello.')
  for (at += 2; at < end; at += 4 + hello.readUInt16BE(at + 2)) {
    if (hello.readUInt16BE(at) !== 0) continue
    // A list of names, of which there is one: its kind, its length and its letters.
    const start = at + 4 + 2 + 3
    const stop = start + hello.readUInt16BE(start - 2)
    if (stop > hello.length) throw new RangeError('The name leads out of the hello.')
    return hello.toString('latin1', start, stop)
  }
  return undefined
}
