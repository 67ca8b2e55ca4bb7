import { exitCodes } from '../base/exit-codes.ts'

/** A reader that went away, such as `head`, and a terminal that was closed. */
const gone: ReadonlySet<string> = new Set(['EPIPE', 'EIO'])

/**
 * Keeps the process alive when no process reads its output any more: what a command does is not undone by that. Any other failure, such as
 * a full disk, is reported on stderr and ends in exit code 1.
 */
export function guardOutput(): void {
  process.stderr.on('error', () => {})
  let said = false
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (said || gone.has(error.code ?? '')) return
    said = true
    process.stderr.write(
      `handrail: output_failed: The output cannot be written: ${error.message}. Nothing that was done is undone.\n`,
    )
    process.once('exit', (code) => {
      if (code === exitCodes.ok) process.exitCode = exitCodes.toolError
    })
  })
}
