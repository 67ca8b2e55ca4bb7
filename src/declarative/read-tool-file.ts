import { readWholeFile } from '../kit/read-whole-file.ts'

/** A definition larger than this is none. */
const maxBytes = 1024 * 1024

/** The text of one tool file, or why it has none. */
export function readToolFile(path: string): { text: string } | { issue: string } {
  const read = readWholeFile(path, maxBytes)
  return 'text' in read && read.text.trim() === ''
    ? { issue: 'The file is empty. Write a tool into it or remove it.' }
    : read
}
