import { codeTools, createRuntime } from 'handrail'

/** A process that runs one command of its arguments in the folder named first, until it is killed, and prints how the command ended. */
const [project = '.', ...argv] = process.argv.slice(2)
const runtime = await createRuntime({
  project,
  home: project,
  tools: [codeTools()],
  // So that what commands write is in force while they run.
  policy: { rules: [{ effect: 'allow', tools: ['code.run_command'], argv: ['*', '**'] }] },
})
const { ok, error } = await runtime.session().call('code.run_command', { argv })
console.log(JSON.stringify({ ok, ...error }))
await runtime.close()
