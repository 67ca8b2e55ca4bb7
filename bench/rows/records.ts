import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { makeDirectory } from '../handrail/load.ts'
import { faultLine } from '../harness/fault-line.ts'
import { environmentOf } from '../harness/race.ts'
import { named, ratio, type Row, type Series, type Settings } from '../harness/report.ts'
import { startInTurn, type Start } from '../harness/start-in-turn.ts'
import type { FilledCosts } from './fill.ts'

export const fewRecords = 10_000

/** What a call and a look at the evidence cost as records add up: 10,000,000, in a quick run 1,000,000. */
export async function measure(settings: Settings): Promise<Row> {
  const manyRecords = settings.rounds > 5 ? 10_000_000 : 1_000_000
  const sizes = [
    { folder: 'few', as: `${fewRecords.toLocaleString('en-US')} records` },
    { folder: 'many', as: `${manyRecords.toLocaleString('en-US')} records` },
  ]
  const { directory, remove } = makeDirectory()
  const toSeries = (what: string) => sizes.map(({ as }): Series => ({ name: `${what}, ${as}`, values: [] }))
  const [one, at32] = [toSeries('a call, 1 in flight'), toSeries('a call, 32 in flight')]
  try {
    const costs = await fill(settings, directory, manyRecords)
    for (const index of sizes.keys()) {
      one[index]?.values.push(...(costs.oneUs[index] ?? []))
      at32[index]?.values.push(...(costs.manyUs[index] ?? []))
    }
  } catch (error) {
    for (const series of [...one, ...at32]) series.failed = faultLine(error)
  }
  const bin = join(settings.installed, 'node_modules', 'handrail', 'bin', 'handrail.cjs')
  const looks = sizes.map(({ folder, as }) => looksAt(bin, join(directory, folder), as))
  const looked = startInTurn(looks, Math.min(5, settings.rounds)).flat()
  remove()
  const over = (all: readonly Series[], what: string) => {
    const [few, many] = sizes.map(({ as }) => named(all, `${what}, ${as}`))
    return ratio(many, few)
  }
  const many = sizes[1]?.as ?? ''
  return {
    groups: [
      { title: 'a call as records add up', unit: 'µs', against: [], series: [...one, ...at32] },
      { title: 'a look at the evidence as records add up', unit: 'ms', against: [], series: looked },
    ],
    reaches: [
      ...['1', '32'].map((flight) => ({
        what: `a call at ${many} / at 10,000, ${flight} in flight`,
        unit: '×',
        value: over([...one, ...at32], `a call, ${flight} in flight`),
        atMost: 1.1,
      })),
      ...Object.keys(lookWords).map((look) => ({
        what: `${look} at ${many} / at 10,000`,
        unit: '×',
        value: over(looked, look),
        atMost: 1.5,
      })),
    ],
  }
}

const lookWords = {
  'handrail evidence list': ['evidence', 'list'],
  'handrail evidence list --session': ['evidence', 'list', '--session', 'ses_000000000007'],
  'handrail explain --call': ['explain', '--call', 'call_0000000150'],
} as const

function looksAt(bin: string, folder: string, as: string): Start[] {
  const places = ['--home', join(folder, 'home'), '--project', join(folder, 'project')]
  return Object.entries(lookWords).map(([look, words]) => ({
    name: `${look}, ${as}`,
    argv: [bin, ...words, ...places],
    cwd: folder,
  }))
}

async function fill(settings: Settings, directory: string, records: number): Promise<FilledCosts> {
  const script = fileURLToPath(new URL('fill.ts', import.meta.url))
  const { stdout } = await promisify(execFile)(process.execPath, [script, directory, String(records)], {
    env: environmentOf(settings),
  })
  return JSON.parse(stdout)
}
