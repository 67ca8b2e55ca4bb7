// Prints how long verification takes for each record, and how much the store grows with each call.
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { inFlight } from '../harness/contender.ts'
import { loadHandrail, makeDirectory } from '../handrail/load.ts'

const calls = 50_000

const { createRuntime, defineTool, verifyEvidence } = await loadHandrail()
const { directory, remove } = makeDirectory()
const path = join(directory, 'store.db')

// 200 bytes go in and 200 come out, as JSON text.
const text = 'x'.repeat(180)
const echo = defineTool({
  name: 'bench.echo',
  description: 'Gives its text back.',
  permission: 'readonly',
  input: {
    type: 'object',
    properties: { n: { type: 'integer' }, text: { type: 'string' } },
    required: ['n', 'text'],
  },
  run: ({ text: given }) => ({ given }),
})
const runtime = await createRuntime({
  project: directory,
  tools: [echo],
  policy: { rules: [{ effect: 'allow', tools: ['bench.*'] }] },
  store: { path },
})
const session = runtime.session()
let n = 0
await inFlight(32, calls, () => session.call('bench.echo', { n: n++, text }))
await session.close()
const verifyUs: number[] = []
for (let round = 0; round < 5; round++) {
  const start = performance.now()
  const found = verifyEvidence(runtime.store)
  const tookUs = (performance.now() - start) * 1000
  if (!found.ok || found.calls !== calls) throw new Error(`verify gives ${JSON.stringify(found)}`)
  verifyUs.push(tookUs / found.records)
}
await runtime.close()
// Closing brings everything from the log into the file.
process.stdout.write(JSON.stringify({ verifyUs, kilobytes: statSync(path).size / calls / 1024 }))
remove()
