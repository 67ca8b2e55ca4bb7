import { codeTools, createRuntime } from 'handrail'

/**
 * A process that tries command lines in a folder, one after the other, and prints how each ended. Then it closes its runtime, ends without that
 * (`leave`), or stays (`stay`).
 */
const [project = '.', then = 'close', ...lines] = process.argv.slice(2)
const runtime = await createRuntime({
  project,
  home: project,
  tools: [codeTools()],
  approve: async () => ({ decision: 'allow_for_session' }),
})
const session = runtime.session()
for (const line of lines) {
  const { ok, error } = await session.call('code.run_command', { argv: ['sh', '-c', line], dry_run: true })
  console.log(JSON.stringify({ ok, ...error }))
}
if (then === 'close') await runtime.close()
if (then === 'stay') setInterval(() => {}, 1_000)
