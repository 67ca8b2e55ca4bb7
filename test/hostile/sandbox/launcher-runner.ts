import { codeTools, createRuntime } from 'handrail'

/** A process that runs one command of its arguments in the folder named first, in a sandbox of the kind named second, and never closes its runtime. */
const [project = '.', kind = '', ...argv] = process.argv.slice(2)
const runtime = await createRuntime({
  project,
  home: project,
  sandbox: kind === 'host' ? 'host' : 'bubblewrap',
  tools: [codeTools()],
  // So that what commands write is in force while they run.
  policy: { rules: [{ effect: 'allow', tools: ['code.run_command'], argv: ['*', '**'] }] },
})
const result = await runtime.session().call('code.run_command', { argv })
process.stdout.write(`${result.summary}\n`)
