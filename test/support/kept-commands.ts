import { fork, type ChildProcess } from 'node:child_process'
import { join } from 'node:path'
import { inject } from 'vitest'

export interface KeptCommand {
  readonly argv: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly input: string
}

export interface KeptEnd {
  code: number
  stdout: string
  stderr: string
}

/** One for all files that share a process, as long as it lives. */
let kept: Promise<ChildProcess> | undefined
let busy = false

/**
 * Runs a command in the process that is kept for that, which is many times faster than to start one. Undefined if it has another one
 * to run, and in `npm run test:long`, where each command is a process of its own as it is for a person.
 */
export function runKept(command: KeptCommand): Promise<KeptEnd> | undefined {
  if (busy || inject('isLong')) return undefined
  busy = true
  return run(command).finally(() => (busy = false))
}

async function run(command: KeptCommand): Promise<KeptEnd> {
  const child = await (kept ??= start())
  return await new Promise((resolve, reject) => {
    const onExit = (code: number | null): void => {
      kept = undefined
      reject(new Error(`handrail ${command.argv.join(' ')} ended its process with ${code}.`))
    }
    child.once('exit', onExit)
    child.once('message', (end) => {
      child.off('exit', onExit)
      resolve(end as KeptEnd)
    })
    child.send(command)
  })
}

async function start(): Promise<ChildProcess> {
  const main = join(inject('program'), '..', '..', 'dist', 'cli', 'main.js')
  const child = fork(join(import.meta.dirname, 'run-commands.ts'), [main], { execArgv: [] })
  await new Promise((resolve) => child.once('message', resolve))
  // The process of the tests does not wait for it.
  child.unref()
  child.channel?.unref()
  return child
}
