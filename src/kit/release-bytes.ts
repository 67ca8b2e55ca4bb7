/**
 * Gives the memory of bytes back at once, which nobody may use afterwards: left to the garbage collector, what a quick program
 * prints would pile up first. Bytes that share their memory with others are left alone.
 */
export function releaseBytes({ buffer, byteLength }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0)
}
