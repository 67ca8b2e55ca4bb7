import { closeSync, openSync } from 'node:fs'
import { codeTools, createRuntime } from 'handrail'

/** A process that runs commands while it opens files until it may open no more, then gives them up one by one, and prints each answer. */
const [project = '.', kind = ''] = process.argv.slice(2)
const runtime = await createRuntime({
  project,
  home: project,
  store: 'memory',
  sandbox: kind === 'host' ? 'host' : 'bubblewrap',
  tools: [codeTools()],
  limits: { repeatsPerSession: 100 },
  // So that what commands write is in force while they run.
  policy: { rules: [{ effect: 'allow', tools: ['code.run_command'], argv: ['*', '**'] }] },
})
const session = runtime.session()
const run = async () => {
  const { ok, error } = await session.call('code.run_command', { argv: ['true'] })
  process.stdout.write(`${ok ? 'ok' : error?.message}\n`)
}
const opened: number[] = []
try {
  for (;;) opened.push(openSync('/dev/null', 'r'))
} catch {
  for (const each of opened) {
    await run()
    closeSync(each)
  }
}
await run()
await runtime.close()
