import { codeTools, createRuntime } from 'handrail'

/** A program of its own, so that nothing but Handrail is in its memory: prints how much more a gigabyte takes than a twentieth of it. */
const [project = '', artifacts = ''] = process.argv.slice(2)
const runtime = await createRuntime({
  project,
  home: project,
  tools: [codeTools()],
  artifacts: { dir: artifacts },
  approve: async () => ({ decision: 'allow_for_session' }),
})
const session = runtime.session()

const little = await print(50_000_000)
const { data, artifacts: kept, most } = await print(1_000_000_000)
process.stdout.write(JSON.stringify({ data, kept: kept[0]?.bytes, growth: most - little.most }))
await runtime.close()

async function print(bytes: number) {
  let most = 0
  const look = setInterval(() => (most = Math.max(most, process.memoryUsage().rss)), 20)
  const argv = ['sh', '-c', `yes 0123456789 | head -c ${bytes}`]
  const result = await session.call('code.run_command', { argv })
  clearInterval(look)
  return { ...result, most }
}
