import { createHash } from 'node:crypto'
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
} from 'node:fs'
import { join, relative } from 'node:path'
import { ToolFailure } from '../../contract/base/errors.ts'
import { fileDigest } from '../../kit/json/digest.ts'
import { isInside } from '../../kit/match/is-inside.ts'
import { messageOf } from '../../kit/text/message-of.ts'

/** A file of a skill, as it is read. */
export interface FoundFile {
  /** Relative to the folder. */
  readonly path: string
  readonly content: Buffer
  readonly isProgram: boolean
}

const mostFiles = 2_000
const mostBytes = 64 * 1024 * 1024
const mostFolders = 32

/** What other programs make there, which does not belong to a skill. */
const notOfSkills: ReadonlySet<string> = new Set(['.git', '.DS_Store', '__pycache__', 'node_modules'])

/** Reads the files of a skill, in order of their paths. Throws a `ToolFailure` for what cannot be taken: a link that leads out, or too much. */
export function readFiles(folder: string, name: string): FoundFile[] {
  const found: FoundFile[] = []
  let bytes = 0
  const look = (below: string, depth: number): void => {
    for (const entry of readdirSync(join(folder, below)).sort()) {
      if (notOfSkills.has(entry)) continue
      const path = join(below, entry)
      if (lstatSync(join(folder, path)).isSymbolicLink()) checkLink(folder, path, name)
      const stat = statSync(join(folder, path))
      if (stat.isDirectory()) {
        if (depth >= mostFolders)
          throw unusable(name, `its folders are more than ${mostFolders} deep at "${path}"`)
        look(path, depth + 1)
      } else if (stat.isFile()) {
        bytes += stat.size
        if (bytes > mostBytes) throw unusable(name, `its files have more than ${mostBytes} bytes`)
        found.push(readFile(folder, path, name))
      } else throw unusable(name, `"${path}" is neither a file nor a folder. Remove it`)
      if (found.length > mostFiles) throw unusable(name, `it has more than ${mostFiles} files`)
    }
  }
  try {
    look('', 0)
  } catch (error) {
    if (error instanceof ToolFailure) throw error
    throw unusable(name, `its folder cannot be read: ${messageOf(error)}`)
  }
  return found
}

/** A link inside of the folder stands for what it leads to. */
function checkLink(folder: string, path: string, name: string): void {
  let target
  try {
    target = realpathSync(join(folder, path))
  } catch {
    throw unusable(name, `the link "${path}" leads to nothing. Remove it`)
  }
  if (!isInside(target, folder))
    throw unusable(name, `the link "${path}" leads out of its folder. Put the file itself there`)
  if (isInside(join(folder, path), target))
    throw unusable(name, `the link "${path}" leads back to a folder above it`)
}

/** Opened first, and then looked at, as another program may put a link in its place meanwhile. */
function readFile(folder: string, path: string, name: string): FoundFile {
  const file = openSync(join(folder, path), constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    const stat = fstatSync(file)
    const real = realpathSync(join(folder, path))
    const there = lstatSync(real)
    if (!stat.isFile() || !isInside(real, folder) || there.ino !== stat.ino || there.dev !== stat.dev)
      throw unusable(name, `"${path}" changed while it was read. Load it again`)
    if (stat.size > mostBytes) throw unusable(name, `"${path}" has more than ${mostBytes} bytes`)
    return { path, content: readFileSync(file), isProgram: (stat.mode & 0o111) !== 0 }
  } finally {
    closeSync(file)
  }
}

/** Names the files with their paths, contents and whether they are programs. */
export function digestFiles(files: readonly FoundFile[]): string {
  const digest = createHash('sha256')
  for (const { path, content, isProgram } of files)
    digest.update(JSON.stringify([path, isProgram, fileDigest(content)]))
  return `sha256:${digest.digest('hex')}`
}

/** What a change of a file shows in without reading it. */
export function signatureOf(folder: string): string {
  const parts: string[] = []
  const look = (path: string): void => {
    const stat = lstatSync(path)
    parts.push([relative(folder, path), stat.mode, stat.size, stat.mtimeMs, stat.ctimeMs, stat.ino].join(' '))
    if (stat.isDirectory()) for (const entry of readdirSync(path).sort()) look(join(path, entry))
  }
  look(folder)
  return parts.join('\n')
}

export function unusable(name: string, why: string): ToolFailure {
  return new ToolFailure({
    reason: 'skill_unusable',
    message: `The skill "${name}" cannot be loaded: ${why}.`,
    data: { skill: name },
  })
}
