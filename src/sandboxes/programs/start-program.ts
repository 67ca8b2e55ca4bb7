import { pipeline, type Writable } from 'node:stream'
import { SetupError, ToolFailure } from '../../contract/base/errors.ts'
import type { Launcher } from './launcher/create-launcher.ts'
import { startDirectly } from './launcher/start-directly.ts'
import type { Started, StartRequest } from './launcher/started.ts'
import { systemErrorName } from '../files/file-failure.ts'

/** A program to start, what it reads, and what starts it. */
export interface ProgramStart extends Omit<StartRequest, 'input'> {
  /** Without it, the program reads from nothing. */
  readonly stdin?: string | AsyncIterable<Uint8Array> | undefined
  /** Default: this process itself. */
  readonly launcher?: Launcher | undefined
}

/**
 * Starts a program without a shell, as the leader of a session and process group of its own. Rejects with a `ToolFailure`
 * where the operating system refuses.
 */
export async function startProgram(request: ProgramStart): Promise<Started> {
  const { stdin, launcher, executable, argv, cwd, env, identity, descriptors } = request
  const { marker, together, metered } = request
  const start = launcher?.start ?? startDirectly
  try {
    const input = stdin !== undefined
    const started = await start({
      executable,
      argv,
      cwd,
      env,
      identity,
      descriptors,
      marker,
      together,
      metered,
      input,
    })
    if (stdin !== undefined && started.stdin !== undefined) feed(started.stdin, stdin)
    return started
  } catch (error) {
    throw toStartFailure(error, executable)
  }
}

function feed(input: Writable, given: string | AsyncIterable<Uint8Array>): void {
  // A program that ends without reading all of its input has what it wanted.
  input.on('error', () => input.destroy())
  if (typeof given === 'string') input.end(given)
  else if (!input.destroyed) pipeline(given, input, () => {})
}

function toStartFailure(error: unknown, executable: string): unknown {
  const name = systemErrorName(error)
  if (name === undefined || error instanceof ToolFailure || error instanceof SetupError) return error
  const [reason, message] = meanings[name] ?? [
    'failed',
    `could not be started: the operating system answered ${name}.`,
  ]
  const code = name === 'ERR_INVALID_ARG_VALUE' ? 'SCHEMA.VALIDATION_FAILED' : 'TOOL.FAILED'
  return new ToolFailure({ code, reason, message: `"${executable}" ${message}` })
}

const tooManyOpen = [
  'failed',
  'could not be started: too many files are open. Try again later, or raise the limit of open files ("ulimit -n") for Handrail.',
] as const

const meanings: { readonly [name: string]: readonly [reason: string, message: string] | undefined } = {
  ENOENT: [
    'command_not_found',
    'could not be started: it, its interpreter or its working directory does not exist.',
  ],
  EACCES: ['permission_denied', 'could not be started: the operating system refuses to execute it.'],
  EPERM: ['permission_denied', 'could not be started: the operating system refuses to execute it.'],
  ENOEXEC: ['permission_denied', 'could not be started: it is not a program for this machine.'],
  E2BIG: ['failed', 'could not be started: its arguments are too long. Pass less, or use a file.'],
  EMFILE: tooManyOpen,
  ENFILE: tooManyOpen,
  ERR_INVALID_ARG_VALUE: [
    'invalid_input',
    'could not be started: an argument contains a NUL byte. Leave it out.',
  ],
}
