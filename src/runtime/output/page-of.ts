/** Some of a text from an offset on, in whole characters. Offsets are bytes of the whole. */
export function pageOf(
  text: string,
  { offset, maxBytes }: { offset: number; maxBytes: number },
): { text: string; offset: number; nextOffset: number } {
  const all = Buffer.from(text)
  const first = toCharacter(all, Math.min(offset, all.length))
  const last = toCharacter(all, Math.min(first + maxBytes, all.length))
  return { text: all.toString('utf8', first, last), offset: first, nextOffset: last }
}

/** The start of the character that the byte at this place belongs to. */
function toCharacter(bytes: Buffer, at: number): number {
  let start = at
  while (start > 0 && start < bytes.length && ((bytes[start] ?? 0) & 0xc0) === 0x80) start--
  return start
}
