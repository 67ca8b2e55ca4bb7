import { codeTools, createRuntime } from 'handrail'

/** A process that runs one command of its arguments in the folder named first, until it is killed, and prints how the command ended. */
const [project = '.', ...argv] = process.argv.slice(2)
const runtime = await createRuntime({
  project,
  home: project,
  tools: [codeTools()],
  approve: async () => ({ decision: 'allow_once' }),
})
const { ok, error } = await runtime.session().call('code.run_command', { argv })
console.log(JSON.stringify({ ok, ...error }))
await runtime.close()
