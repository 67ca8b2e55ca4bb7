import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { decodeUtf8 } from '../../kit/text/decode-utf8.ts'
import { parseWrittenJson } from '../../kit/json/parse-written-json.ts'

/** A configuration larger than this is none. */
export const maxBytes = 1024 * 1024

/** What a file says, and whether it has comments; or all that is wrong with it. */
export type ReadJson = ReturnType<typeof parseWrittenJson>

/** The JSON value in a file, or why there is none; undefined if the file does not exist. */
export function readJsonFile(path: string): ReadJson | undefined {
  const read = readTextFile(path)
  if (read === undefined || 'text' in read) return read && parseWrittenJson(read.text)
  return { issues: [{ pointer: '', code: 'unreadable', message: read.issue }] }
}

/** The text of a file, or why there is none; undefined if the file does not exist. */
export function readTextFile(path: string): { text: string } | { issue: string } | undefined {
  const refuse = (issue: string) => ({ issue })
  try {
    return decodeUtf8(readRegularFile(path))
  } catch (error) {
    if (error instanceof NoConfiguration) return refuse(error.message)
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error)
    // The code that needs the folder reports that it is not one.
    if (code === 'ENOTDIR') return undefined
    if (code !== 'ENOENT')
      return refuse(`The file cannot be read (${code}). Mend its permissions or remove it.`)
    const link = findDanglingLink(path)
    return link === undefined
      ? undefined
      : refuse(`The link "${link}" leads nowhere. Put back what it leads to, or remove the link.`)
  }
}

class NoConfiguration extends Error {}

/** Opened without waiting: a repository may hold a pipe, or a link to a device without end, under this name. */
function readRegularFile(path: string): Buffer {
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    const stat = fstatSync(file)
    if (!stat.isFile()) throw new NoConfiguration('It is not a file. Put a file there or remove it.')
    if (stat.size > maxBytes)
      throw new NoConfiguration(`It has ${stat.size} bytes, and at most ${maxBytes} are taken. Shorten it.`)
    return readFileSync(file)
  } finally {
    closeSync(file)
  }
}

/** The link on the way to a file that is not there, such as into a volume that is not mounted: what it said is not known. */
function findDanglingLink(path: string): string | undefined {
  for (let at = path; at !== dirname(at); at = dirname(at)) {
    const stat = lstatSync(at, { throwIfNoEntry: false })
    if (stat !== undefined) return stat.isSymbolicLink() ? at : undefined
  }
  return undefined
}
