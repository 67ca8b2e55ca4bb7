import { codeTools, createRuntime } from 'handrail'

/**
 * A process that has commands and files under way in the folder named first, in sandboxes of the kind named second, and kills itself so many
 * milliseconds after it asked for them. Without a time it makes one call and ends.
 */
const [project = '.', kind = '', after] = process.argv.slice(2)
const big = 'x'.repeat(2_000_000)

const runtimes = await Promise.all(
  Array.from({ length: after === undefined ? 1 : 4 }, () =>
    createRuntime({
      project,
      home: project,
      sandbox: kind === 'host' ? 'host' : 'bubblewrap',
      tools: [codeTools()],
      approve: async () => ({ decision: 'allow_once' }),
      store: 'memory',
    }),
  ),
)
const sessions = runtimes.map((runtime) => runtime.session())
const run = (each: (typeof sessions)[number], script: string) =>
  each.call('code.run_command', { argv: ['sh', '-c', script, project] })

// Half of them have what starts programs already.
await Promise.all(sessions.slice(0, sessions.length / 2).map((each) => run(each, 'exit 0')))
if (after === undefined) {
  for (const session of sessions) await session.call('code.write_file', { path: 'ended', content: '' })
  for (const runtime of runtimes) await runtime.close()
} else {
  for (const [index, session] of sessions.entries()) {
    for (let each = 0; each < 4; each++) void run(session, 'sleep 60; exit 3')
    void session.call('code.write_file', { path: `${process.pid}-${index}`, content: big })
    void session.call('code.copy_path', { from: 'tree', to: `${process.pid}-${index}-copy` })
  }
  setTimeout(() => process.kill(process.pid, 'SIGKILL'), Number(after))
}
