/** The first and the last bytes of what is added, in memory that does not grow. */
export interface KeptEnds {
  /** Bytes added so far. */
  bytes(): number
  add(chunk: Uint8Array): void
  /** What is kept, in order; copies. While no more than `maxBytes` were added that is everything. */
  parts(): { head: Buffer; tail: Buffer }
}

/** Keeps everything up to `maxBytes`, then the first half of that and the last. */
export function keepEnds(maxBytes: number): KeptEnds {
  const headRoom = Math.ceil(maxBytes / 2)
  const tailRoom = maxBytes - headRoom
  let head: Buffer = Buffer.alloc(0)
  let ring: Buffer | undefined
  let bytes = 0

  const addToTail = (chunk: Uint8Array) => {
    if (tailRoom === 0 || chunk.length === 0) return
    ring ??= Buffer.allocUnsafe(tailRoom)
    const last = chunk.subarray(Math.max(0, chunk.length - tailRoom))
    const at = (bytes - headRoom + chunk.length - last.length) % tailRoom
    const first = last.subarray(0, tailRoom - at)
    ring.set(first, at)
    ring.set(last.subarray(first.length), 0)
  }
  return {
    bytes: () => bytes,
    add(chunk) {
      const room = Math.max(0, headRoom - bytes)
      if (room > 0) {
        const taken = chunk.subarray(0, room)
        if (bytes + taken.length > head.length) head = enlarge(head, bytes + taken.length, headRoom)
        head.set(taken, bytes)
        bytes += taken.length
      }
      const rest = chunk.subarray(room)
      addToTail(rest)
      bytes += rest.length
    },
    parts() {
      const inTail = Math.max(0, bytes - headRoom)
      const at = inTail > tailRoom ? inTail % tailRoom : 0
      const tail = ring?.subarray(0, Math.min(inTail, tailRoom)) ?? Buffer.alloc(0)
      return {
        head: Buffer.from(head.subarray(0, Math.min(bytes, headRoom))),
        tail: Buffer.concat([tail.subarray(at), tail.subarray(0, at)]),
      }
    },
  }
}

/** Mostly little comes of what may be kept. */
function enlarge(head: Buffer, needed: number, most: number): Buffer {
  const larger = Buffer.allocUnsafe(Math.min(most, Math.max(needed, 2 * head.length)))
  head.copy(larger)
  return larger
}
