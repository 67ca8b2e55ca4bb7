/** One entry of a tar file; what is not given is that of an empty regular file of root. */
export interface TarEntry {
  readonly name: string
  readonly content?: string
  readonly mode?: number
  /** `0` a file, `1` a hard link, `2` a link, `3` a character device, `4` a block device, `5` a folder, `6` a FIFO. */
  readonly type?: '0' | '1' | '2' | '3' | '4' | '5' | '6'
  readonly link?: string
}

/** A tar file of these entries, with whatever names and kinds they have, which no tar would write. */
export function makeTar(entries: readonly TarEntry[]): Buffer {
  return Buffer.concat([...entries.flatMap(toBlocks), Buffer.alloc(1024)])
}

function toBlocks({ name, content = '', mode = 0o644, type = '0', link = '' }: TarEntry): Buffer[] {
  const header = Buffer.alloc(512)
  const octal = (value: number, length: number) => `${value.toString(8).padStart(length - 1, '0')}\0`
  header.write(name, 0)
  header.write(octal(mode, 8), 100)
  header.write(octal(0, 8), 108)
  header.write(octal(0, 8), 116)
  header.write(octal(Buffer.byteLength(content), 12), 124)
  header.write(octal(0, 12), 136)
  header.write(' '.repeat(8), 148)
  header.write(type, 156)
  header.write(link, 157)
  header.write('ustar\u000000', 257)
  header.write('root', 265)
  header.write('root', 297)
  // Device 1, 3: that of null.
  header.write(octal(1, 8), 329)
  header.write(octal(3, 8), 337)
  header.write(
    `${octal(
      header.reduce((sum, byte) => sum + byte, 0),
      7,
    )} `,
    148,
  )
  const padding = Buffer.alloc((512 - (Buffer.byteLength(content) % 512)) % 512)
  return [header, Buffer.from(content), padding]
}
