import { layHome, startGateway, startUpstream } from '../gateway/programs.ts'
import { residentMb } from '../gateway/resident-mb.ts'
import { openRawSession } from '../gateway/raw-session.ts'
import { makeDirectory } from '../handrail/load.ts'
import { faultLine } from '../harness/fault-line.ts'
import { median, type Row, type Series, type Settings } from '../harness/report.ts'

const servers = 50
const toolsEach = 100

const withTools = `handrail serve, ${servers} servers that are remembered, ${(servers * toolsEach).toLocaleString('en-US')} tools`
const bare = 'handrail serve, no servers'
const first = 'first tools/list of the gateway'
const later = 'tools/list of the next client'

/** What a gateway in front of many servers takes to start, to list, and in memory: with everything remembered and nobody connected to. */
export async function measure(settings: Settings): Promise<Row> {
  process.env.HANDRAIL_INSTALLED = settings.installed
  const many = createTaken(withTools)
  const none = createTaken(bare)
  const { directory, remove } = makeDirectory()
  const upstream = await startUpstream('--servers', String(servers), '--tools', String(toolsEach - 1))
  try {
    const base = upstream.url.slice(0, -1)
    const all = Array.from({ length: servers }, (_, index) => [`server${index}`, { url: `${base}${index}` }])
    layHome(`${directory}/many`, Object.fromEntries(all))
    layHome(`${directory}/none`, {})
    await meet(`${directory}/many`)
    for (let round = 0; round < Math.min(settings.rounds, 7); round++) {
      await takeRound(`${directory}/many`, many)
      await takeRound(`${directory}/none`, none)
    }
  } catch (error) {
    for (const series of Object.values(many)) series.failed = faultLine(error)
  }
  await upstream.end()
  remove()
  const against = [{ name: bare, as: 'none' }]
  return {
    groups: [
      { title: 'from the start to the first request', unit: 'ms', against, series: [many.start, none.start] },
      { title: 'tools/list to its last byte', unit: 'ms', against: [], series: [many.first, many.later] },
      { title: 'resident memory after two lists', unit: 'MB', against, series: [many.memory, none.memory] },
    ],
    reaches: [
      { what: 'start with 5,000 remembered tools', unit: 'ms', value: middleOf(many.start), atMost: 3000 },
      { what: 'first tools/list of 5,000 tools', unit: 'ms', value: middleOf(many.first), atMost: 50 },
      { what: 'resident memory with 5,000 tools', unit: 'MB', value: middleOf(many.memory), atMost: 150 },
    ],
  }
}

type Taken = {
  readonly [Name in 'start' | 'first' | 'later' | 'memory']: Series
}

function createTaken(name: string): Taken {
  const series = (as: string): Series => ({ name: as, values: [] })
  return { start: series(name), first: series(first), later: series(later), memory: series(name) }
}

function middleOf({ values, failed }: Series): number | undefined {
  return failed === undefined ? median(values) : undefined
}

/** Lets the gateway meet the servers, so that it remembers them. */
async function meet(directory: string): Promise<void> {
  const served = await startGateway(directory)
  const deadline = performance.now() + 120_000
  for (;;) {
    const session = await openRawSession(served.url)
    const { names } = await session.list()
    await session.close()
    if (names >= servers * toolsEach) break
    if (performance.now() > deadline) throw new Error(`after two minutes it has ${names} tools`)
  }
  await served.end()
}

async function takeRound(directory: string, taken: Taken): Promise<void> {
  const before = performance.now()
  const served = await startGateway(directory)
  taken.start.values.push(performance.now() - before)
  try {
    for (const series of [taken.first, taken.later]) {
      const session = await openRawSession(served.url)
      series.values.push((await session.list()).ms)
      await session.close()
    }
    taken.memory.values.push(residentMb(served.child.pid ?? 0))
  } finally {
    await served.end()
  }
}
