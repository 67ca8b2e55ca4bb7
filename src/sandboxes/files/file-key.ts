/** What tells one file from every other one, under all of its names. */
export function fileKey({ dev, ino }: { dev: number; ino: number }): string {
  return `${dev} ${ino}`
}

/** Paths of files by their key. */
export type PathsByFile = ReadonlyMap<string, readonly string[]>
