import { ToolFailure } from '../../contract/base/errors.ts'
import type { Launcher } from './launcher/create-launcher.ts'
import { findProgram } from './find-program.ts'
import { resolveHostLimits } from '../files/reach.ts'
import { runTree } from './run-tree.ts'

/** A program of the operator, such as a hook. */
export interface ProgramRequest {
  /** `argv[0]` is a path, absolute or from `cwd`, or a name to look up in the PATH of `env`. */
  argv: readonly string[]
  cwd: string
  /** All of the program's environment. */
  env: Readonly<Record<string, string>>
  timeoutMs: number
  stdin?: string
  signal?: AbortSignal
  /** Kept of each output stream, start and end. Default 1 MiB. */
  maxBytes?: number
  /** What starts it; default this process itself. */
  launcher?: Launcher
}

export interface ProgramOutcome {
  /** Null if a signal ended the program. */
  exitCode: number | null
  stdout: string
  stderr: string
  timedOut: boolean
  /** The middle of an output stream was left out. */
  truncated: boolean
}

/**
 * Runs a program that the operator configured, so without a profile: by argv, never through a shell, its whole tree ended at
 * its end, its time-out or its abort. Rejects with a `ToolFailure` where it cannot be started.
 */
export async function runProgram(request: ProgramRequest): Promise<ProgramOutcome> {
  const { argv, cwd, env, timeoutMs, stdin, signal, launcher, maxBytes = 1024 * 1024 } = request
  const name = argv[0] ?? ''
  const program = findProgram(name, { cwd, path: env['PATH'] ?? '' })
  if (program === undefined) throw commandNotFound(name)
  const outcome = await runTree({
    executable: program.path,
    argv,
    cwd,
    env,
    timeoutMs,
    maxBytes,
    stdin,
    launcher,
    graceMs: resolveHostLimits().graceMs,
    signals: signal === undefined ? [] : [signal],
  })
  return {
    exitCode: outcome.exitCode,
    stdout: outcome.stdout.head + outcome.stdout.tail,
    stderr: outcome.stderr.head + outcome.stderr.tail,
    timedOut: outcome.ended === 'timeout',
    truncated: outcome.stdout.truncated || outcome.stderr.truncated,
  }
}

/** No program has that name. */
export function commandNotFound(name: string): ToolFailure {
  return new ToolFailure({
    reason: 'command_not_found',
    message: `There is no program "${name}". Check the spelling, or install it.`,
    data: { command: name },
  })
}
