import { randomBytes } from 'node:crypto'
import { PassThrough } from 'node:stream'
import type { LongProgram, ProgramListener, ProgramRequest } from '../../contract/tool-feed.ts'
import type { Started } from '../launcher/started.ts'
import { endTree } from './end-tree.ts'
import { findProgram } from './find-program.ts'
import { identifyTree } from './find-tree.ts'
import { resolveHostLimits } from './reach.ts'
import { commandNotFound } from './run-program.ts'
import { startProgram } from './start-program.ts'

const markName = 'HANDRAIL_PROGRAM'

/**
 * Starts a program of the operator that runs until it is ended, on the host, where nothing isolates it. By argv, never through a shell.
 * Rejects with a `ToolFailure` where it cannot be started.
 */
export async function openProgram(request: ProgramRequest, listener: ProgramListener): Promise<LongProgram> {
  const { argv, cwd, env } = request
  const name = argv[0] ?? ''
  const program = findProgram(name, { cwd, path: env['PATH'] ?? '' })
  if (program === undefined) throw commandNotFound(name)
  const mark = randomBytes(12).toString('hex')
  const input = new PassThrough()
  const started = await startProgram({
    executable: program.path,
    argv,
    cwd,
    env: { ...env, [markName]: mark },
    stdin: input,
  })
  const tree = identifyTree(started.pid, `${markName}=${mark}`)
  const { stdout, stderr, pid } = started
  const ended = watchEnd(started)
  stdout.on('data', (bytes: Buffer) => listener.onStdout(bytes))
  stderr.on('data', (bytes: Buffer) => listener.onStderr(bytes))
  let ending: Promise<void> | undefined
  const end = async (): Promise<void> => {
    input.end()
    const survivors = await endTree(tree, resolveHostLimits().graceMs)
    if (survivors.length === 0) await ended
    for (const stream of [stdout, stderr]) stream.destroy()
  }
  // What it leaves behind goes with it.
  void ended.then(() => (ending ??= end()))
  return { pid, write: (text) => write(input, text), ended, end: () => (ending ??= end()) }
}

function watchEnd({ exited, stdout, stderr }: Started): LongProgram['ended'] {
  for (const stream of [stdout, stderr]) stream.on('error', () => stream.destroy())
  return exited.then(({ exitCode, signal }) => ({ exitCode, signal }))
}

function write(input: PassThrough, text: string): Promise<void> {
  if (input.destroyed || input.writableEnded)
    return Promise.reject(new Error('The program takes no more input.'))
  return new Promise((resolve, reject) => {
    input.write(text, (error) => (error ? reject(error) : resolve()))
  })
}
