import { Readable, Writable } from 'node:stream'

/**
 * A process that runs commands of `handrail` one after the other, each with streams, arguments, a folder and an environment of its own, as
 * its parent asks for them. It ends with its parent.
 */
interface Asked {
  readonly argv: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly input: string
}

const { runMain } = (await import(process.argv[2] ?? '')) as {
  runMain: (argv: readonly string[]) => Promise<void>
}

process.on('message', (asked: Asked) => void run(asked))
process.on('disconnect', () => process.exit())
process.send?.('ready')

async function run({ argv, cwd, env, input }: Asked): Promise<void> {
  process.chdir(cwd)
  for (const name of Object.keys(process.env)) delete process.env[name]
  Object.assign(process.env, env)
  process.exitCode = undefined
  const [stdout, stderr] = [collect(), collect()]
  replace('stdin', Readable.from(input === '' ? [] : [Buffer.from(input)], { objectMode: false }))
  replace('stdout', stdout.stream)
  replace('stderr', stderr.stream)
  await runMain(argv)
  // What was said meanwhile is written in the order in which it was said.
  await new Promise((resolve) => stdout.stream.write('', resolve))
  await new Promise((resolve) => stderr.stream.write('', resolve))
  process.send?.({ code: process.exitCode ?? 0, stdout: stdout.text(), stderr: stderr.text() })
}

function collect(): { stream: Writable; text: () => string } {
  const pieces: Buffer[] = []
  const stream = new Writable({
    write(piece: Buffer, _encoding, done) {
      pieces.push(piece)
      done()
    },
  })
  return { stream, text: () => Buffer.concat(pieces).toString() }
}

function replace(name: 'stdin' | 'stdout' | 'stderr', stream: Readable | Writable): void {
  Object.defineProperty(process, name, { value: stream, configurable: true })
}
