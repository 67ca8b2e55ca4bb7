import { atEnd } from './at-end.ts'
import { environmentOf, expectNoStack, startHandrail, type Place } from './command-line.ts'
import { startKept, type KeptEnd, type KeptRun } from './kept-commands.ts'

/** A command of `handrail` that is at work. */
export interface CommandAtWork {
  readonly output: { readonly stdout: string; readonly stderr: string }
  /** Resolves when stdout and stderr together contain the text; rejects when the command ends before that. */
  saw(text: string): Promise<void>
  /** Standard input stays open. */
  type(text: string): void
  /** What SIGTERM does. */
  stop(): void
  readonly ended: Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }>
}

/**
 * Starts `handrail` in a process that is kept for that, and in `npm run test:long` in one of its own. What still runs when the test ends
 * is stopped.
 */
export async function startCommand(
  place: Place,
  argv: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<CommandAtWork> {
  const kept = await startKept({ argv, cwd: place.project, env: { ...environmentOf(place), ...env } })
  if (kept !== undefined) return follow(kept)
  const running = startHandrail(place, argv, { env })
  return {
    output: running.output,
    saw: (text) => running.saw(text),
    type: (text) => void running.child.stdin.write(text),
    stop: () => void running.child.kill('SIGTERM'),
    ended: running.ended,
  }
}

/** `handrail serve` as a person starts it, and the address of its MCP endpoint. Default: on a free port. */
export async function startServer(
  place: Place,
  options: readonly string[] = ['--port', '0'],
  env: Readonly<Record<string, string>> = {},
): Promise<CommandAtWork & { readonly url: string }> {
  const server = await startCommand(place, ['serve', ...options], env)
  await server.saw('Ctrl-C stops.')
  const url = /serves MCP at (\S+)/.exec(server.output.stdout)?.[1] ?? 'no address'
  return { ...server, url }
}

function follow(run: KeptRun): CommandAtWork {
  const looks = new Set<() => void>()
  run.onOutput = () => {
    for (const look of looks) look()
  }
  let end: KeptEnd | undefined
  const ended = run.ended.then((it) => (end = it))
  ended.catch(() => {})
  atEnd(async () => {
    if (end === undefined) run.stop()
    expectNoStack(await ended)
  })
  const all = (): string => `${run.output.stdout}\n${run.output.stderr}`
  const saw = (text: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        if (all().includes(text)) resolve()
      }
      looks.add(look)
      look()
      ended.then(() => reject(new Error(`It ended without "${text}":\n${all()}`)), reject)
    })
  return { output: run.output, saw, type: (text) => run.type(text), stop: () => run.stop(), ended }
}
