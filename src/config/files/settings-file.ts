import { lstatSync, mkdirSync, readFileSync, realpathSync, rmSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { SetupError } from '../../contract/base/errors.ts'
import { describeFileError } from '../../kit/text/describe-file-error.ts'
import { whileChanging } from '../base/while-changing.ts'
import { writeWhole } from '../../kit/write-whole.ts'

/** A file of settings that a person keeps by hand, or another program. */
export interface OpenFile {
  /** As it is named. */
  readonly path: string
  /** Where a link leads. */
  readonly target: string
  /** Undefined if there is none. */
  readonly text: string | undefined
}

/** Throws a SetupError if it cannot be read. */
export function openFile(path: string): OpenFile {
  try {
    if (lstatSync(path, { throwIfNoEntry: false }) === undefined)
      return { path, target: path, text: undefined }
    const target = realpathSync(path)
    return {
      path,
      target,
      text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(readFileSync(target)),
    }
  } catch (error) {
    throw new SetupError(
      'invalid_configuration',
      `"${path}" cannot be read: ${describeFileError(error)}. Nothing was changed.`,
    )
  }
}

/** Writes the file as a whole, or removes it. What it says by now must be what was shown; who else changes files with this home waits. */
export function writeChange(file: OpenFile, after: string | undefined, home: string): void {
  whileChanging(home, () => replace(file, after))
}

function replace(file: OpenFile, after: string | undefined): void {
  const { path, target } = file
  if (openFile(path).text !== file.text)
    throw new SetupError(
      'invalid_configuration',
      `"${path}" was changed meanwhile. Nothing was changed: try again.`,
    )
  try {
    if (after === undefined) return rmSync(target)
    mkdirSync(dirname(target), { recursive: true })
    const mode = statSync(target, { throwIfNoEntry: false })?.mode ?? 0o600
    writeWhole(target, { text: after, mode: mode & 0o777 })
  } catch (error) {
    throw new SetupError(
      'invalid_configuration',
      `"${path}" cannot be written: ${describeFileError(error)}. Nothing was changed.`,
    )
  }
}
