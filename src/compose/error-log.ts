import type { Redactor } from '../kit/secrets/redact.ts'
import { describeCause } from '../kit/text/describe-cause.ts'
import { showLine } from '../kit/text/show-safely.ts'
import { tellWatcher } from '../kit/time/tell-watcher.ts'
import type { RuntimeOptions } from './options/runtime-options.ts'

export type OnError = NonNullable<RuntimeOptions['onError']>

/** Where errors go. What the program's own log throws goes to stderr, with the error that the log got. */
export function createErrorLog(given: OnError | undefined, redactor: Pick<Redactor, 'text'>): OnError {
  const print: OnError = (error) => printError(error, redactor)
  if (given === undefined) return print
  return (error) =>
    tellWatcher(given, error, (cause) => {
      print(error)
      print({ ...error, cause: new Error('"onError" failed', { cause }) })
    })
}

/** Prints an error that no caller is told of, in one line on stderr, without secrets. */
export function printError(
  { call, tool, cause }: Parameters<OnError>[0],
  redactor?: Pick<Redactor, 'text'>,
): void {
  // Names and messages may come from a server that is not ours.
  const about = ['fault', tool, call].filter((part) => part !== '').join(' ')
  const line = `handrail: ${about}: ${describeCause(cause)}`
  process.stderr.write(`${showLine(redactor?.text(line) ?? line)}\n`)
}
