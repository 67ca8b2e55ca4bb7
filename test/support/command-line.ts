import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, inject } from 'vitest'
import { atEnd } from './at-end.ts'
import { runKept } from './kept-commands.ts'
import { makeFolder } from './project.ts'

// A test starts several processes, and a machine may be busy with much else.

export const packageRoot = join(import.meta.dirname, '..', '..')
/** The command line of the sources of now, as it is packed. */
export const program = inject('program')
/** What Node is started with so that a script of ours imports the package as it is packed. */
export const onBundle = inject('onBundle')

/** A project folder and a person's home; Handrail's own folder in it is made when it is needed. */
export interface Place {
  project: string
  user: string
  /** `~/.handrail` of the person. */
  home: string
  store: string
}

/** A fresh project with these files, and a person with these in `~/.handrail`. Both are removed when the test ends. */
export function makePlace(
  files: Readonly<Record<string, string | Uint8Array>> = {},
  own: Readonly<Record<string, unknown>> = {},
): Place {
  const project = makeFolder(files)
  const entries = Object.entries(own).map(([name, content]) => [
    `.handrail/${name}`,
    typeof content === 'string' ? content : JSON.stringify(content),
  ])
  const user = makeFolder(Object.fromEntries(entries) as Record<string, string>)
  const home = join(user, '.handrail')
  return { project, user, home, store: join(home, 'store.db') }
}

/** The environment of a person: nothing of the test runner's or npm's own but where the tests keep files, so that no variable of theirs decides. */
export function environmentOf(place: Place): Record<string, string> {
  return {
    PATH: process.env['PATH'] ?? '',
    HOME: place.user,
    TERM: 'xterm',
    LANG: 'C.UTF-8',
    SHELL: '/bin/sh',
    TMPDIR: tmpdir(),
  }
}

export interface Ended {
  code: number | null
  signal: NodeJS.Signals | null
  stdout: string
  stderr: string
}

export interface StartOptions {
  command?: string
  cwd?: string
  env?: Readonly<Record<string, string>>
}

/** A process whose output is collected. Killed when the test ends, if it still runs. */
export interface Running {
  readonly child: ChildProcessWithoutNullStreams
  readonly output: { stdout: string; stderr: string }
  /** Resolves when stdout and stderr together contain the text; rejects when the process ends before that. */
  saw(text: string): Promise<void>
  readonly ended: Promise<Ended>
}

/** Starts any program as the person would, in the project folder. */
export function startProgram(place: Place, argv: readonly string[], options: StartOptions = {}): Running {
  const child = spawn(options.command ?? process.execPath, argv, {
    cwd: options.cwd ?? place.project,
    env: { ...environmentOf(place), ...options.env },
  })
  const output = { stdout: '', stderr: '' }
  const waiting = new Set<() => void>()
  const collect = (stream: 'stdout' | 'stderr') => (chunk: string) => {
    output[stream] += chunk
    for (const look of waiting) look()
  }
  child.stdout.setEncoding('utf8').on('data', collect('stdout'))
  child.stderr.setEncoding('utf8').on('data', collect('stderr'))
  child.stdin.on('error', () => {})
  const ended = new Promise<Ended>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code, signal) => resolve({ code, signal, ...output }))
  })
  ended.catch(() => {})
  atEnd(() => child.kill('SIGKILL'))
  const saw = (text: string) =>
    new Promise<void>((resolve, reject) => {
      const look = () => {
        if (!`${output.stdout}\n${output.stderr}`.includes(text)) return false
        waiting.delete(look)
        resolve()
        return true
      }
      if (look()) return
      waiting.add(look)
      ended.then(
        () => look() || reject(new Error(`It ended without "${text}":\n${output.stdout}\n${output.stderr}`)),
        reject,
      )
    })
  return { child, output, saw, ended }
}

/** Starts `handrail` with these arguments; its standard input stays open. */
export function startHandrail(place: Place, argv: readonly string[], options: StartOptions = {}): Running {
  return startProgram(place, [program, ...argv], options)
}

/** Runs `handrail` to its end with this on standard input. No command line may ever show a stack. */
export async function handrail(
  place: Place,
  argv: readonly string[],
  { input = '', ...options }: StartOptions & { input?: string } = {},
): Promise<Ended> {
  const ended = await (runInKept(place, argv, { input, ...options }) ??
    runAlone(place, argv, { input, ...options }))
  expectNoStack(ended)
  return ended
}

type RunOptions = StartOptions & { readonly input: string }

function runInKept(place: Place, argv: readonly string[], options: RunOptions): Promise<Ended> | undefined {
  const { command, cwd = place.project, env, input } = options
  if (command !== undefined) return undefined
  const ended = runKept({ argv, cwd, env: { ...environmentOf(place), ...env }, input })
  return ended?.then((end) => ({ ...end, signal: null }))
}

function runAlone(place: Place, argv: readonly string[], { input, ...options }: RunOptions): Promise<Ended> {
  const running = startHandrail(place, argv, options)
  running.child.stdin.end(input)
  return running.ended
}

/** `handrail call` with a tool and options in one line, such as `code.write_file --approve once`, and the input as a value. */
export function call(place: Place, line: string, input: unknown): Promise<Ended> {
  const [tool = '', ...options] = line.split(' ')
  return handrail(place, ['call', tool, JSON.stringify(input), ...options])
}

export function expectNoStack({ stdout, stderr }: Pick<Ended, 'stdout' | 'stderr'>): void {
  expect(`${stdout}\n${stderr}`).not.toMatch(/^\s+at .*:\d+:\d+\)?$/m)
}

/** What `--json` printed. */
export function jsonOf<T = Record<string, unknown>>({ stdout }: Ended): T {
  return JSON.parse(stdout) as T
}
