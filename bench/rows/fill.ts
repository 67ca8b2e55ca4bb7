// Fills the stores of two homes and prints what a call costs in each, in turn: `fill.ts <folder> <records of the large one>`. The
// homes stay, for commands to read.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fillStore } from '../handrail/fill-store.ts'
import { loadHandrail } from '../handrail/load.ts'
import { inFlight } from '../harness/contender.ts'
import { fewRecords } from './records.ts'

/** By size, round by round: what a call takes with one and with 32 in flight. */
export interface FilledCosts {
  readonly oneUs: number[][]
  readonly manyUs: number[][]
  /** How long it took to add a record, in microseconds. */
  readonly addUs: number
}

const rounds = 9
const callsPerRound = 1_000
const tenant = 'local'

const [folder = '', records = ''] = process.argv.slice(2)
const { createRuntime, defineTool } = await loadHandrail()
const echo = defineTool({
  name: 'bench.echo',
  description: 'Returns its number.',
  permission: 'readonly',
  input: { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] },
  run: ({ n }) => ({ n }),
})

async function open(name: string) {
  const home = join(folder, name)
  mkdirSync(join(home, 'project'), { recursive: true })
  mkdirSync(join(home, 'home'), { mode: 0o700 })
  return createRuntime({
    project: join(home, 'project'),
    tools: [echo],
    store: { path: join(home, 'home', 'store.db') },
    signing: { dir: join(home, 'home', 'keys') },
    limits: { repeatsPerSession: 1_000_000 },
  })
}

const runtimes = [await open('few'), await open('many')]
const [few, many] = runtimes
if (few === undefined || many === undefined) throw new Error('two runtimes are needed')
await fillStore(few.store, fewRecords, tenant)
const start = performance.now()
await fillStore(many.store, Number(records), tenant)
const addUs = ((performance.now() - start) * 1000) / Number(records)

let n = 0
async function time(runtime: (typeof runtimes)[number], flight: number): Promise<number> {
  const session = runtime.session()
  const began = performance.now()
  await inFlight(flight, callsPerRound, async () => {
    const { ok, error } = await session.call('bench.echo', { n: n++ })
    if (!ok) throw new Error(`a call failed: ${JSON.stringify(error)}`)
  })
  const tookUs = (performance.now() - began) * 1000
  await session.close()
  return tookUs / callsPerRound
}

const oneUs: number[][] = runtimes.map(() => [])
const manyUs: number[][] = runtimes.map(() => [])
for (let round = 0; round <= rounds; round++)
  for (const [index, runtime] of runtimes.entries()) {
    const [one, at32] = [await time(runtime, 1), await time(runtime, 32)]
    // The first round fills caches.
    if (round > 0) {
      oneUs[index]?.push(one)
      manyUs[index]?.push(at32)
    }
  }
for (const runtime of runtimes) await runtime.close()
process.stdout.write(JSON.stringify({ oneUs, manyUs, addUs } satisfies FilledCosts))
