import { codeTools, createRuntime, jobTools } from 'handrail'

/**
 * A process that has a job under way in the folder named first, held back, and kills itself so many milliseconds after the job began. Without a time it
 * makes one call and ends.
 */
const [project = '.', after] = process.argv.slice(2)

const runtime = await createRuntime({
  project,
  home: project,
  sandbox: { kind: 'bubblewrap', hold: 'always' },
  tools: [codeTools(), jobTools()],
  approve: async () => ({ decision: 'allow_once' }),
  store: 'memory',
})
const session = runtime.session()
const line = `: ${project}
n=0
while :; do
  n=$((n + 1))
  mkdir -p .vscode out; echo evil > .envrc; echo evil > .vscode/tasks.json; ln -sf .envrc .bashrc
  for i in 1 2 3 4 5 6 7 8; do echo $n > out/$n-$i; done
  [ -e .git ] || git init -q .; echo evil > .git/hooks/pre-commit
  sleep 0.02
done`
if (after === undefined) {
  await session.call('code.run_command', { argv: ['true'] })
  await runtime.close()
} else {
  await session.call('code.run_command', { argv: ['sh', '-c', line], background: true })
  setTimeout(() => process.kill(process.pid, 'SIGKILL'), Number(after))
}
