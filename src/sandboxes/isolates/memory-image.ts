/** The memory of a WebAssembly module. */
export interface EngineMemory {
  readonly buffer: ArrayBuffer
}

/** All that a memory held when its image was taken. */
export interface MemoryImage {
  /** Makes every byte of the memory what it was. False if the memory has grown since: it cannot be made smaller. */
  putBack(): boolean
}

/** Bytes that are compared, and put back, at a time. */
const blockLength = 16 * 1024

/** Takes an image of a memory. What is empty in it takes no room. */
export function takeImage(memory: EngineMemory): MemoryImage {
  const { buffer } = memory
  const empty = Buffer.alloc(blockLength)
  const blocks: { readonly now: Buffer; readonly was: Buffer }[] = []
  for (let at = 0; at < buffer.byteLength; at += blockLength) {
    const now = Buffer.from(buffer, at, Math.min(blockLength, buffer.byteLength - at))
    blocks.push({ now, was: now.equals(empty) ? empty : Buffer.from(now) })
  }
  return {
    putBack() {
      // A memory that grows gets another buffer.
      if (memory.buffer !== buffer) return false
      // perf: a program changes few blocks, and comparing is faster than writing.
      for (const { now, was } of blocks) if (!now.equals(was)) was.copy(now)
      return true
    },
  }
}
