import { lstatSync, mkdirSync, readFileSync, realpathSync, rmSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { SetupError } from '../../contract/base/errors.ts'
import { previewDiff } from '../../kit/diff/preview-diff.ts'
import { createRedactor } from '../../kit/secrets/redact.ts'
import { describeFileError } from '../../kit/text/describe-file-error.ts'
import { writeWhole } from '../../kit/write-whole.ts'
import type { CommandLine } from '../base/command.ts'
import { exitCodes } from '../base/exit-codes.ts'
import { showLine, writeText } from '../base/show-safely.ts'
import { UsageError } from '../base/usage-error.ts'
import { askYesOrNo } from '../terminal/ask-for-choice.ts'
import { openTerminal } from '../terminal/terminal.ts'
import { listenForStop } from '../terminal/stop-signal.ts'

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

/** Shows the change without these secrets, and asks for it; with `--yes` it is only shown. */
export async function isWanted(
  { path, text }: OpenFile,
  { after, secrets = [] }: { after: string; secrets?: readonly string[] },
  { options }: CommandLine,
): Promise<boolean> {
  const { body } = previewDiff({ name: path.replace(/^\//, ''), before: text, after })
  writeText(process.stdout, createRedactor(secrets).text(body))
  if (options['yes'] === true) return true
  const stop = listenForStop()
  const terminal = openTerminal(() => stop.stop())
  try {
    if (terminal === undefined)
      throw new UsageError(
        'No person can be asked here. Look at the change above, and add --yes. Nothing was changed.',
      )
    return await terminal.talk(stop.signal, (person) => askYesOrNo(person, 'Write that? [y/n] '))
  } finally {
    stop.release()
  }
}

/** Writes the file as a whole, or removes it. What it says by now must be what was shown. */
export function writeChange(file: OpenFile, after: string | undefined): void {
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

/** What is said after a no. */
export function refused(): number {
  say('Nothing was changed.')
  return exitCodes.denied
}

/** Says one line beside the output. */
export function say(text: string): number {
  process.stderr.write(`handrail: ${showLine(text)}\n`)
  return exitCodes.ok
}
