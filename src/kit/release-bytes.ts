/**
 * Frees the memory of bytes at once; the bytes must not be used afterwards. Left to the garbage collector, what a quick program
 * prints would pile up first. Bytes that share their memory with others are left alone.
 */
export function releaseBytes({ buffer, byteLength }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0)
}
