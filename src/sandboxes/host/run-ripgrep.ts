import type { ChildProcess } from 'node:child_process'
import { ToolFailure } from '../../contract/errors.ts'
import { aborted } from './reach.ts'
import { childProcess } from './child-process.ts'

/** A run of ripgrep. */
export interface RipgrepRun {
  readonly program: string
  readonly arguments: readonly string[]
  readonly cwd: string
  /** The PATH variable, all of its environment. */
  readonly path: string
  readonly signals: readonly AbortSignal[]
  /** Tells, piece by piece, when there is enough; then ripgrep is ended. */
  readonly enough: (chunk: Buffer) => boolean
}

const maxMessageBytes = 8192

/**
 * Runs ripgrep and gives its output, and whether it was ended early. Fails with `invalid_pattern` where it refuses the
 * pattern, glob or file type, with `TOOL.ABORTED` where a signal ends it.
 */
export async function runRipgrep(run: RipgrepRun): Promise<{ output: Buffer; cut: boolean }> {
  if (run.signals.some((signal) => signal.aborted)) throw aborted()
  const child = childProcess().spawn(run.program, run.arguments, {
    cwd: run.cwd,
    env: { PATH: run.path },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const kill = () => void child.kill('SIGKILL')
  for (const signal of run.signals) signal.addEventListener('abort', kill)
  const chunks: Buffer[] = []
  let cut = false
  let message = ''
  child.stdout.on('data', (chunk: Buffer) => {
    if (cut) return
    chunks.push(chunk)
    cut = run.enough(chunk)
    if (cut) kill()
  })
  child.stderr.on('data', (chunk: Buffer) => {
    if (message.length < maxMessageBytes) message += chunk.toString()
  })
  try {
    const exitCode = await ended(child)
    if (run.signals.some((signal) => signal.aborted)) throw aborted()
    if (!cut) checkEnd(exitCode, message)
    return { output: Buffer.concat(chunks), cut }
  } finally {
    for (const signal of run.signals) signal.removeEventListener('abort', kill)
  }
}

function ended(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
}

/** 0: found, 1: nothing found, 2: refused, or found but some file could not be read, about which it then says nothing. */
function checkEnd(exitCode: number | null, message: string): void {
  if (exitCode === 0 || exitCode === 1 || (exitCode === 2 && message === '')) return
  if (exitCode !== 2)
    throw new ToolFailure({
      reason: 'failed',
      message: 'ripgrep was ended by the system before it was done. Search a smaller part.',
    })
  throw invalidPattern(shorten(message))
}

/** The pattern, the glob or the file type cannot be searched with. */
export function invalidPattern(why: string): ToolFailure {
  return new ToolFailure({
    reason: 'invalid_pattern',
    message: `ripgrep does not take this search: ${why} Patterns are Rust regular expressions, without look-around and backreferences.`,
  })
}

function shorten(message: string): string {
  const text = message
    .replace(/^rg: /, '')
    .replace(/\n\nConsider enabling PCRE2[\s\S]*$/, '')
    .trim()
  const short = text.length > 500 ? `${text.slice(0, 500)}…` : text
  return /[.…]$/.test(short) ? short : `${short}.`
}
