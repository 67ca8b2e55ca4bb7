import { rename, writeFile } from 'node:fs/promises'

/** A reader finds the whole file, or what was there before. */
export async function replaceFile(path: string, text: string): Promise<void> {
  const draft = `${path}.${process.pid}.new`
  await writeFile(draft, text, { mode: 0o600 })
  await rename(draft, path)
}
