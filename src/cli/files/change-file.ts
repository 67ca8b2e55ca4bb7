import type { OpenFile } from '../../config/files/settings-file.ts'
import { previewDiff } from '../../kit/diff/preview-diff.ts'
import { createRedactor } from '../../kit/secrets/redact.ts'
import type { CommandLine } from '../base/command.ts'
import { exitCodes } from '../base/exit-codes.ts'
import { showLine, writeText } from '../base/show-safely.ts'
import { UsageError } from '../base/usage-error.ts'
import { askYesOrNo } from '../terminal/ask-for-choice.ts'
import { openTerminal } from '../terminal/terminal.ts'
import { listenForStop } from '../terminal/stop-signal.ts'

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
    return await terminal.talk(stop.signal, (person) => askYesOrNo(person, 'Write that? yes / no: '))
  } finally {
    stop.release()
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
