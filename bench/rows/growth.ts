import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { faultLine } from '../harness/fault-line.ts'
import { environmentOf } from '../harness/race.ts'
import { median, named, ratio, type Row, type Series, type Settings } from '../harness/report.ts'
import type { Cost } from './grow.ts'

const sizes = [
  { as: '50 MB', megabytes: 0 },
  { as: '1 GB', megabytes: 1024 },
]
const ways = [
  { name: 'code.run_command on the host', ms: 'commandMs', blockMs: 'commandBlockMs' },
  { name: 'child_process.spawn', ms: 'spawnMs', blockMs: 'spawnBlockMs' },
] as const

/** What starting programs costs a process of 50 MB and one of 1 GB, and how long its event loop stands still. */
export async function measureGrowth(settings: Settings): Promise<Row> {
  const times: Series[] = ways.flatMap(({ name }) => sizes.map(({ as }) => toSeries(`${name}, ${as}`)))
  const blocks = times.map(({ name }) => toSeries(name))
  for (let round = 0; round < Math.min(settings.rounds, 5); round++)
    for (const [column, { megabytes }] of sizes.entries())
      await addRound({ settings, megabytes, column, times, blocks })
  const large = `${ways[0].name}, 1 GB`
  return {
    groups: [
      {
        title: 'one start of a program that does nothing',
        unit: 'ms',
        against: ways.map(({ name }) => ({
          name: `${name}, 50 MB`,
          as: name === ways[0].name ? 'ours' : 'spawn',
        })),
        series: times,
      },
      {
        title: 'longest time without the event loop, in ten starts',
        unit: 'ms',
        against: [],
        series: blocks,
      },
    ],
    reaches: [
      {
        what: 'start of a command at 1 GB / at 50 MB',
        unit: '×',
        value: ratio(named(times, large), named(times, `${ways[0].name}, 50 MB`)),
        atMost: 2,
      },
      {
        what: 'longest block of the event loop by commands at 1 GB',
        unit: 'ms',
        value: median(named(blocks, large)?.values ?? []),
        atMost: 5,
      },
    ],
  }
}

function toSeries(name: string): Series {
  return { name, values: [] }
}

interface Round {
  settings: Settings
  megabytes: number
  column: number
  times: readonly Series[]
  blocks: readonly Series[]
}

async function addRound({ settings, megabytes, column, times, blocks }: Round): Promise<void> {
  const at = (all: readonly Series[], way: number) => all[way * sizes.length + column]
  try {
    const cost = await costAt(settings, megabytes)
    for (const [way, { ms, blockMs }] of ways.entries()) {
      at(times, way)?.values.push(cost[ms])
      at(blocks, way)?.values.push(cost[blockMs])
    }
  } catch (error) {
    for (const way of ways.keys())
      for (const series of [at(times, way), at(blocks, way)])
        if (series !== undefined) series.failed = faultLine(error)
  }
}

async function costAt(settings: Settings, megabytes: number): Promise<Cost> {
  const script = fileURLToPath(new URL('grow.ts', import.meta.url))
  const { stdout } = await promisify(execFile)(process.execPath, [script, String(megabytes)], {
    env: environmentOf(settings),
  })
  return JSON.parse(stdout)
}
