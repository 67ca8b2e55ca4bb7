// Prints how long verification takes for each record, and how much the store grows with each call, with everything on that a policy
// can have and signed: calls come in bursts, and older records are packed between them. With `keyed` as argument each call has an
// idempotency key of its own as well.
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { governed } from '../handrail/governance.ts'
import { loadEvidence, loadHandrail, makeDirectory } from '../handrail/load.ts'
import { inFlight } from '../harness/contender.ts'

const calls = 20_000
const burst = 2_000
/** So many records are not packed yet, or stay as they are. */
const newest = 1_200
const keyed = process.argv[2] === 'keyed'

const { createRuntime, defineTool } = await loadHandrail()
const { openKeyFiles, verifyEvidence } = await loadEvidence()
const { directory, remove } = makeDirectory()
const path = join(directory, 'store.db')
const signing = { dir: join(directory, 'keys') }

// 200 bytes go in and 200 come out, as JSON text.
const text = 'x'.repeat(180)
const echo = defineTool({
  name: 'bench.echo',
  description: 'Gives its text back.',
  ...(keyed
    ? { permission: 'write', sideEffect: 'none', idempotency: 'keyed', keyFrom: 'call' }
    : { permission: 'readonly' }),
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
  policy: governed(10),
  store: { path },
  signing,
})
await runtime.consents.give({ tenant: 'tenant0', tool: 'bench.echo', givenBy: 'bench' })
const session = runtime.session({ tenant: 'tenant0' })
let n = 0
const call = async (): Promise<void> => {
  const number = n++
  const key = keyed ? { idempotencyKey: `order-${number}` } : {}
  const { ok, error } = await session.call('bench.echo', { n: number, text }, key)
  if (!ok) throw new Error(`a call gives ${JSON.stringify(error)}`)
}
const file = new DatabaseSync(path, { readOnly: true })
const left = file.prepare('SELECT count(*) AS count FROM records WHERE packed IS NULL')
while (n < calls) {
  await inFlight(32, burst, call)
  const until = performance.now() + 60_000
  while (Number(left.get()?.['count']) > newest) {
    if (performance.now() > until) throw new Error('the records of a minute ago are not packed')
    await sleep(50)
  }
}
file.close()
await session.close()
const keys = openKeyFiles(signing.dir)
const verifyUs: number[] = []
for (let round = 0; round < 5; round++) {
  const start = performance.now()
  const found = verifyEvidence(runtime.store, { keys })
  const tookUs = (performance.now() - start) * 1000
  if (!found.ok || found.calls !== calls || found.signed?.keys.length !== 1)
    throw new Error(`verify gives ${JSON.stringify(found)}`)
  verifyUs.push(tookUs / found.records)
}
await runtime.close()
// Closing brings everything from the log into the file.
process.stdout.write(JSON.stringify({ verifyUs, kilobytes: statSync(path).size / calls / 1024 }))
remove()
