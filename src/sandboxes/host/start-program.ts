import type { ChildProcess, SpawnOptions } from 'node:child_process'
import { once } from 'node:events'
import { pipeline, type Readable, type Writable } from 'node:stream'
import { ToolFailure } from '../../contract/errors.ts'
import { systemErrorName } from './file-failure.ts'
import { childProcess } from './child-process.ts'

/** What to start, as whom, where and with what environment. */
export interface StartRequest {
  /** Absolute path. */
  readonly executable: string
  /** `argv[0]` is the name that the program sees, the rest are its arguments. */
  readonly argv: readonly string[]
  readonly cwd: string
  /** All of the program's environment. */
  readonly env: Readonly<Record<string, string>>
  /** Text that it reads, or pieces of it as they come. Without it, the program reads from nothing. */
  readonly stdin?: string | AsyncIterable<Uint8Array> | undefined
  /** Whom the program runs as; default this process's own user. */
  readonly identity?: { readonly uid: number; readonly gid: number } | undefined
  /** What it finds from descriptor 3 on: descriptors of this process, or a pipe to it. */
  readonly descriptors?: readonly (number | 'pipe')[] | undefined
}

/** A started program. */
export interface Started {
  readonly child: ChildProcess
  readonly pid: number
  readonly stdout: Readable
  readonly stderr: Readable
}

/**
 * Starts a program without a shell, as the leader of a session and process group of its own. Rejects with a `ToolFailure`
 * where the operating system refuses.
 */
export async function startProgram(request: StartRequest): Promise<Started> {
  const { executable, argv, cwd, env, stdin, identity, descriptors = [] } = request
  const options: SpawnOptions = { argv0: argv[0] ?? executable, cwd, env, detached: true, ...identity }
  try {
    const child = childProcess().spawn(executable, argv.slice(1), {
      ...options,
      stdio: [stdin === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe', ...descriptors],
    })
    await once(child, 'spawn')
    const { pid, stdout, stderr } = child
    if (pid === undefined || stdout === null || stderr === null)
      throw new Error(`"${executable}" was started without its output streams.`)
    if (stdin !== undefined) feed(child.stdin, stdin)
    return { child, pid, stdout, stderr }
  } catch (error) {
    throw toStartFailure(error, executable)
  }
}

function feed(input: Writable | null, given: string | AsyncIterable<Uint8Array>): void {
  if (input === null) return
  // A program that ends without reading all of its input has what it wanted.
  input.on('error', () => input.destroy())
  if (typeof given === 'string') input.end(given)
  else pipeline(given, input, () => {})
}

function toStartFailure(error: unknown, executable: string): unknown {
  const name = systemErrorName(error)
  if (name === undefined) return error
  const [reason, message] = meanings[name] ?? [
    'failed',
    `could not be started: the operating system answered ${name}.`,
  ]
  const code = name === 'ERR_INVALID_ARG_VALUE' ? 'SCHEMA.VALIDATION_FAILED' : 'TOOL.FAILED'
  return new ToolFailure({ code, reason, message: `"${executable}" ${message}` })
}

const meanings: { readonly [name: string]: readonly [reason: string, message: string] | undefined } = {
  ENOENT: [
    'command_not_found',
    'could not be started: it, its interpreter or its working directory does not exist.',
  ],
  EACCES: ['permission_denied', 'could not be started: the operating system refuses to execute it.'],
  EPERM: ['permission_denied', 'could not be started: the operating system refuses to execute it.'],
  ENOEXEC: ['permission_denied', 'could not be started: it is no program for this machine.'],
  E2BIG: ['failed', 'could not be started: its arguments are too long. Pass less, or use a file.'],
  ERR_INVALID_ARG_VALUE: [
    'invalid_input',
    'could not be started: an argument contains a NUL byte. Leave it out.',
  ],
}
