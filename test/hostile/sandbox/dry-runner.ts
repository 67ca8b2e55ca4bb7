import { codeTools, createRuntime } from 'handrail'

/** A process that tries one command line in a folder, and prints how that ended. */
const [project = '.', line = ''] = process.argv.slice(2)
const runtime = await createRuntime({
  project,
  home: project,
  tools: [codeTools()],
  approve: async () => ({ decision: 'allow_once' }),
})
const { ok, error } = await runtime
  .session()
  .call('code.run_command', { argv: ['sh', '-c', line], dry_run: true })
console.log(JSON.stringify({ ok, ...error }))
await runtime.close()
