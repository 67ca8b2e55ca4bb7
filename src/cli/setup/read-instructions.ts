import { closeSync, constants, fstatSync, openSync, readFileSync, realpathSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { decodeUtf8 } from '../../kit/text/decode-utf8.ts'
import { describeFileError } from '../../kit/text/describe-file-error.ts'

/** Files in which the author of a project says how to work on it. */
const names = ['AGENTS.md', 'CLAUDE.md'] as const
const maxBytes = 64 * 1024

/** What the files say, each text once, and which were left out and why. */
export interface ProjectInstructions {
  readonly texts: readonly string[]
  readonly notices: readonly string[]
}

/**
 * Reads the instructions in the root of a project. The author of the project wrote them: a link that leads to anything but another such file of the
 * same folder is left out, as it would show a model what no tool may read.
 */
export function readInstructions(project: string): ProjectInstructions {
  const read = names.map((name) => ({ name, ...readOne(project, name) }))
  return {
    texts: [...new Set(read.flatMap(({ text }) => (text === undefined ? [] : [text])))],
    notices: read.flatMap(({ name, issue }) =>
      issue === undefined ? [] : [`The model is not shown the ${name} of the project: ${issue}.`],
    ),
  }
}

function readOne(project: string, name: string): { text?: string; issue?: string } {
  try {
    const root = realpathSync(project)
    const path = realpathSync(join(root, name))
    if (dirname(path) !== root || !names.some((each) => each === basename(path)))
      return { issue: 'it is a link that leads to another file' }
    // Opened without following or waiting, as it may be another file by now.
    const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    try {
      return readOpen(file)
    } finally {
      closeSync(file)
    }
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return {}
    return { issue: describeFileError(error) }
  }
}

function readOpen(file: number): { text?: string; issue?: string } {
  const stat = fstatSync(file)
  if (!stat.isFile()) return { issue: 'it is not a file' }
  if (stat.size > maxBytes) return { issue: `it has ${stat.size} bytes, and at most ${maxBytes} are taken` }
  const decoded = decodeUtf8(readFileSync(file))
  if ('issue' in decoded) return { issue: decoded.issue.replace(/\.$/, '') }
  return decoded.text.trim() === '' ? {} : { text: decoded.text }
}
