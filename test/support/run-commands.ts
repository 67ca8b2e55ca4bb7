import { flushCompileCache } from 'node:module'
import { PassThrough, Writable } from 'node:stream'

/**
 * A process that runs commands of `handrail` one after the other, each with streams, arguments, a folder and an environment of its own, as
 * its parent asks for them. It ends with its parent.
 */
export type ToCommand =
  | {
      readonly does: 'run'
      readonly argv: readonly string[]
      readonly cwd: string
      readonly env: Readonly<Record<string, string>>
    }
  | { readonly does: 'type'; readonly text: string }
  | { readonly does: 'end-input' }
  /** What SIGTERM does to a process of its own. */
  | { readonly does: 'stop' }

export type FromCommand =
  | { readonly says: 'ready' }
  | { readonly says: 'output'; readonly to: 'stdout' | 'stderr'; readonly piece: Uint8Array }
  | { readonly says: 'ended'; readonly code: number }

const { runMain } = (await import(process.argv[2] ?? '')) as {
  runMain: (argv: readonly string[]) => Promise<void>
}

let input = new PassThrough()

process.on('message', (word: ToCommand) => {
  if (word.does === 'run') void run(word)
  else if (word.does === 'type') input.write(word.text)
  else if (word.does === 'end-input') input.end()
  else if (!process.emit('SIGTERM', 'SIGTERM')) process.exit(143)
})
process.on('disconnect', () => process.exit())
say({ says: 'ready' })

async function run({ argv, cwd, env }: Extract<ToCommand, { does: 'run' }>): Promise<void> {
  process.chdir(cwd)
  for (const name of Object.keys(process.env)) delete process.env[name]
  Object.assign(process.env, env)
  process.exitCode = undefined
  input = new PassThrough()
  const [stdout, stderr] = [toParent('stdout'), toParent('stderr')]
  replace(process, { stdin: input, stdout, stderr })
  // The console keeps the streams that it found first.
  replace(console, { _stdout: stdout, _stderr: stderr })
  await runMain(argv)
  // For the next process of this kind, which may start long before this one ends.
  flushCompileCache()
  // A process of its own would have ended with what listens to these.
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.removeAllListeners(name)
  // What was said meanwhile is written in the order in which it was said.
  await new Promise((resolve) => stdout.write('', resolve))
  await new Promise((resolve) => stderr.write('', resolve))
  say({ says: 'ended', code: Number(process.exitCode ?? 0) })
}

function toParent(to: 'stdout' | 'stderr'): Writable {
  return new Writable({
    write(piece: Buffer, _encoding, done) {
      if (piece.length > 0) say({ says: 'output', to, piece })
      done()
    },
  })
}

function say(word: FromCommand): void {
  process.send?.(word)
}

function replace(holder: object, streams: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(streams))
    Object.defineProperty(holder, name, { value, configurable: true, writable: true })
}
