import { fork, type ChildProcess } from 'node:child_process'
import { join } from 'node:path'
import { StringDecoder } from 'node:string_decoder'
import { inject } from 'vitest'
import { cheapMemory } from './cheap-memory.ts'
import type { FromCommand, ToCommand } from './run-commands.ts'

export interface KeptCommand {
  readonly argv: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  /** Whose process it is, if not ours. */
  readonly user?: number
  /** What runs it, with a function `runMain`. Default: the command line. */
  readonly main?: string
}

export interface KeptEnd {
  code: number
  stdout: string
  stderr: string
}

/** A command that runs in a process that is kept for the next one. */
export interface KeptRun {
  readonly output: { stdout: string; stderr: string }
  /** Told whenever more was printed. */
  onOutput: (to: 'stdout' | 'stderr', text: string) => void
  readonly ended: Promise<KeptEnd>
  type(text: string): void
  endInput(): void
  /** What SIGTERM does to a process of its own. */
  stop(): void
  kill(): void
}

/** Those that run nothing, for all files that share a process, by what they run and whose they are. */
const idle = new Map<string, ChildProcess[]>()
const mostIdle = 3

/** Runs a command to its end with this on its standard input; undefined where `startKept` is. */
export function runKept({ input, ...command }: KeptCommand & { readonly input: string }) {
  return startKept(command)?.then((run) => {
    if (input !== '') run.type(input)
    run.endInput()
    return run.ended
  })
}

/**
 * Starts a command in a process that is kept for that, which is many times faster than to start one. Undefined in `npm run test:long`, where
 * each command is a process of its own as it is for a person.
 */
export function startKept(command: KeptCommand): Promise<KeptRun> | undefined {
  return inject('isLong') ? undefined : start(command)
}

async function start({ user, main = commandLine(), ...command }: KeptCommand): Promise<KeptRun> {
  const others = idleOf(main, user)
  const child = others.pop() ?? (await makeProcess(main, user))
  const ended = Promise.withResolvers<KeptEnd>()
  ended.promise.catch(() => {})
  const tell = (word: ToCommand): void => void (child.connected && child.send(word))
  const run: KeptRun = {
    output: { stdout: '', stderr: '' },
    onOutput: () => {},
    ended: ended.promise,
    type: (text) => tell({ does: 'type', text }),
    endInput: () => tell({ does: 'end-input' }),
    stop: () => tell({ does: 'stop' }),
    kill: () => void child.kill('SIGKILL'),
  }
  const decoders = { stdout: new StringDecoder(), stderr: new StringDecoder() }
  const onExit = (code: number | null, signal: string | null): void =>
    ended.reject(new Error(`handrail ${command.argv.join(' ')} ended its process with ${code ?? signal}.`))
  const onMessage = (word: FromCommand): void => {
    if (word.says === 'output') {
      const text = decoders[word.to].write(Buffer.from(word.piece))
      run.output[word.to] += text
      run.onOutput(word.to, text)
    } else if (word.says === 'ended') {
      child.off('exit', onExit).off('message', onMessage)
      keep(child, others)
      ended.resolve({ code: word.code, ...run.output })
    }
  }
  child.once('exit', onExit).on('message', onMessage)
  tell({ does: 'run', ...command })
  return run
}

const commandLine = (): string => join(inject('program'), '..', '..', 'dist', 'cli', 'main.cjs')

function idleOf(main: string, user: number | undefined): ChildProcess[] {
  const kind = JSON.stringify([main, user])
  const found = idle.get(kind) ?? []
  idle.set(kind, found)
  return found
}

function keep(child: ChildProcess, others: ChildProcess[]): void {
  if (others.length < mostIdle) others.push(child)
  else child.disconnect()
}

async function makeProcess(main: string, user: number | undefined): Promise<ChildProcess> {
  const child = fork(join(inject('programs'), 'run-commands.mjs'), [main], {
    execArgv: [...cheapMemory],
    serialization: 'advanced',
    // With an id of a user, Node leaves all other groups too.
    ...(user !== undefined && { uid: user, gid: user }),
  })
  child.once('exit', () => {
    const others = idleOf(main, user)
    const at = others.indexOf(child)
    if (at >= 0) others.splice(at, 1)
  })
  await new Promise((resolve) => child.once('message', resolve))
  // The process of the tests does not wait for it.
  child.unref()
  child.channel?.unref()
  return child
}
