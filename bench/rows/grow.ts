// Prints what starting a program costs in this process once it is larger by so many megabytes, through Handrail and without it.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { loadHandrail, makeDirectory } from '../handrail/load.ts'
import { median } from '../harness/report.ts'
import { commandToRun } from '../harness/tree.ts'

/** Medians, in milliseconds: from the start of one to its end, and the longest time in which the event loop did nothing else. */
export interface Cost {
  readonly commandMs: number
  readonly commandBlockMs: number
  readonly spawnMs: number
  readonly spawnBlockMs: number
}

const warmUps = 20
const batches = 5
const batch = 10

const { codeTools, createRuntime } = await loadHandrail()
const { directory, remove } = makeDirectory()
const runtime = await createRuntime({
  project: directory,
  tools: [codeTools()],
  store: 'memory',
  // Without isolation, beside which the start would hardly be seen.
  sandbox: 'host',
  approve: async () => ({ decision: 'allow_for_session' }),
  limits: { repeatsPerSession: 1_000_000 },
})
const session = runtime.session()

async function command(): Promise<void> {
  const result = await session.call('code.run_command', { argv: [commandToRun] })
  if (!result.ok) throw new Error(`code.run_command failed: ${result.error?.message}`)
}

async function plain(): Promise<void> {
  const child = spawn(commandToRun, { cwd: directory, stdio: ['ignore', 'pipe', 'pipe'] })
  child.stdout.resume()
  child.stderr.resume()
  await once(child, 'close')
}

async function measure(run: () => Promise<void>): Promise<{ ms: number; blockMs: number }> {
  const times: number[] = []
  const blocks: number[] = []
  for (let index = 0; index < batches; index++) {
    const delay = monitorEventLoopDelay({ resolution: 1 })
    delay.enable()
    for (let each = 0; each < batch; each++) {
      const start = performance.now()
      await run()
      times.push(performance.now() - start)
    }
    delay.disable()
    blocks.push(delay.max / 1e6)
  }
  return { ms: median(times) ?? Number.NaN, blockMs: median(blocks) ?? Number.NaN }
}

for (let index = 0; index < warmUps; index++) await command()
const ballast = Array.from({ length: Math.ceil(Number(process.argv[2]) / 64) }, () =>
  Buffer.alloc(64 * 1024 * 1024, 1),
)
const commands = await measure(command)
const spawns = await measure(plain)
if (ballast.some((part) => part[0] !== 1)) throw new Error('the ballast is not there any more')
const cost: Cost = {
  commandMs: commands.ms,
  commandBlockMs: commands.blockMs,
  spawnMs: spawns.ms,
  spawnBlockMs: spawns.blockMs,
}
process.stdout.write(JSON.stringify(cost))
await runtime.close()
remove()
