import { ToolFailure } from '../../contract/base/errors.ts'
import type { Launcher } from '../programs/launcher/create-launcher.ts'
import { killNow } from '../programs/launcher/kill-now.ts'
import { launcherLost } from '../programs/launcher/launcher-lost.ts'
import type { Started } from '../programs/launcher/started.ts'
import { whenClosed } from '../programs/launcher/when-closed.ts'
import { aborted } from '../files/aborted.ts'
import { startProgram } from '../programs/start-program.ts'
import { shorten } from '../../kit/text/shorten.ts'

/** A run of ripgrep. */
export interface RipgrepRun {
  readonly program: string
  readonly arguments: readonly string[]
  readonly cwd: string
  /** The PATH variable, all of its environment. */
  readonly path: string
  readonly signals: readonly AbortSignal[]
  /** What starts it; default this process itself. */
  readonly launcher?: Launcher | undefined
  /** Tells, piece by piece, when there is enough; then ripgrep is ended. */
  readonly enough: (chunk: Buffer) => boolean
  /** Whether what could not be read is reported in the message, and is not a failure. */
  readonly tolerant?: boolean
}

const maxMessageBytes = 8192
const maxTolerated = 1024 * 1024

/**
 * Runs ripgrep and returns its output, and whether it was ended early. Fails with `invalid_pattern` if it refuses the
 * pattern, glob or file type, with `TOOL.ABORTED` if a signal ends it.
 */
export async function runRipgrep(
  run: RipgrepRun,
): Promise<{ output: Buffer; cut: boolean; message: string }> {
  if (run.signals.some((signal) => signal.aborted)) throw aborted()
  const started = await startProgram({
    executable: run.program,
    argv: [run.program, ...run.arguments],
    cwd: run.cwd,
    env: { PATH: run.path },
    launcher: run.launcher,
  })
  const kill = () => end(started)
  for (const signal of run.signals) signal.addEventListener('abort', kill)
  if (run.signals.some((signal) => signal.aborted)) kill()
  const chunks: Buffer[] = []
  let cut = false
  let message = ''
  started.stdout.on('data', (chunk: Buffer) => {
    if (cut) return
    chunks.push(chunk)
    cut = run.enough(chunk)
    if (cut) kill()
  })
  started.stderr.on('data', (chunk: Buffer) => {
    if (message.length < (run.tolerant === true ? maxTolerated : maxMessageBytes)) message += chunk.toString()
  })
  try {
    const { exitCode, lost } = await whenClosed(started)
    if (run.signals.some((signal) => signal.aborted)) throw aborted()
    if (lost) throw launcherLost()
    if (!cut) checkEnd(exitCode, run.tolerant === true ? '' : message)
    return { output: Buffer.concat(chunks), cut, message }
  } finally {
    for (const signal of run.signals) signal.removeEventListener('abort', kill)
  }
}

function end({ pid, exit }: Started): void {
  if (exit() === undefined) killNow(pid)
}

/** 0: found, 1: nothing found, 2: refused, or found but some file could not be read, about which it then says nothing. */
function checkEnd(exitCode: number | null, message: string): void {
  if (exitCode === 0 || exitCode === 1 || (exitCode === 2 && message === '')) return
  if (exitCode !== 2)
    throw new ToolFailure({
      reason: 'failed',
      message: 'ripgrep was ended by the system before it was done. Search a smaller part.',
    })
  throw invalidPattern(toSentence(message))
}

/** The pattern, the glob or the file type cannot be searched with. */
export function invalidPattern(why: string): ToolFailure {
  return new ToolFailure({
    reason: 'invalid_pattern',
    message: `ripgrep does not take this search: ${why} Patterns are Rust regular expressions, without look-around and backreferences.`,
  })
}

function toSentence(message: string): string {
  const text = message
    .replace(/^rg: /, '')
    .replace(/\n\nConsider enabling PCRE2[\s\S]*$/, '')
    .trim()
  const short = shorten(text, 500)
  return /[.…]$/.test(short) ? short : `${short}.`
}
