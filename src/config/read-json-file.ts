import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs'
import type { Fault } from '../contract/json.ts'

/** A configuration larger than this is none. */
export const maxBytes = 1024 * 1024

/** The JSON value in a file, or why there is none; undefined where there is no such file. */
export function readJsonFile(path: string): { value: unknown } | { fault: Fault } | undefined {
  const refuse = (code: string, message: string) => ({ fault: { pointer: '', code, message } })
  let content: string
  try {
    content = readRegularFile(path)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error)
    // No folder is no file; what needs the folder says that it is missing.
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    if (error instanceof NoConfiguration) return refuse('unreadable', error.message)
    return refuse('unreadable', `The file cannot be read (${code}). Mend its permissions or remove it.`)
  }
  try {
    return { value: JSON.parse(content) }
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error)
    return refuse('invalid_json', `The file is not valid JSON: ${detail}. Mend it or remove it.`)
  }
}

class NoConfiguration extends Error {}

/** Opened without waiting: a repository may hold a pipe, or a link to a device without end, under this name. */
function readRegularFile(path: string): string {
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    const stat = fstatSync(file)
    if (!stat.isFile()) throw new NoConfiguration('It is not a file. Put a file there or remove it.')
    if (stat.size > maxBytes)
      throw new NoConfiguration(`It has ${stat.size} bytes, and at most ${maxBytes} are taken. Shorten it.`)
    return readFileSync(file, 'utf8')
  } finally {
    closeSync(file)
  }
}
