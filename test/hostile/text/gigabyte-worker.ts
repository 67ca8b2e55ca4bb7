import { readFileSync } from 'node:fs'
import { codeTools, createRuntime, jobTools } from 'handrail'

/**
 * A program of its own, so that nothing but Handrail is in its memory: prints how much higher that got by so many bytes of output than by
 * a fifth of them, and what they left.
 */
const [way = 'call', bytes = '0', project = '', artifacts = '', script = ''] = process.argv.slice(2)
const runtime = await createRuntime({
  project,
  home: project,
  tools: [codeTools(), jobTools()],
  artifacts: { dir: artifacts },
  limits: { artifactBytes: 2_000_000_000 },
  secrets: { door: 'a secret of the operator' },
  approve: async () => ({ decision: 'allow_for_session' }),
})
let heard = 0
runtime.on(({ summary }) => (heard += summary.length))
const session = runtime.session()

const work = way === 'job' ? runJob : run

await work(Number(bytes) / 5)
const before = mostMemory()
const result = await work(Number(bytes))
process.stdout.write(JSON.stringify({ ...result, heard, growth: mostMemory() - before }))
await runtime.close()

function toInput(bytes: number) {
  return { argv: ['sh', '-c', script.replaceAll('BYTES', String(bytes))] }
}

async function run(bytes: number) {
  const { ok, artifacts: kept } = await session.call('code.run_command', toInput(bytes))
  return { ok, kept }
}

async function runJob(bytes: number) {
  const started = await session.call('code.run_command', { ...toInput(bytes), background: true })
  const { job: id } = started.data as { job: string }
  for (;;) {
    const { ok, data, artifacts: kept } = await session.call('job.output', { id, wait_ms: 60_000 })
    if ((data as { job: { state: string } }).job.state !== 'running') return { ok, kept }
  }
}

/** The most that this process ever had in memory, in bytes. */
function mostMemory(): number {
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) * 1024
}
