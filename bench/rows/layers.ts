import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { faultLine } from '../harness/fault-line.ts'
import { environmentOf } from '../harness/race.ts'
import {
  median,
  named,
  ratio,
  type Group,
  type Reach,
  type Row,
  type Series,
  type Settings,
} from '../harness/report.ts'
import type { Held } from './hold.ts'

const turnsARound = 5
const plainName = 'Handrail, code.run_command in bubblewrap'
const layerName = `${plainName}, in a layer`

/** What it costs that a command writes into a layer over a project of 10,000 files. */
export async function measure(settings: Settings): Promise<Row> {
  const held = await hold(settings)
  const pairs = [
    pair({ title: 'a program that does nothing', held, plain: 'plain', layer: 'layer' }),
    pair({ title: 'a program that writes one file', held, plain: 'plainWrite', layer: 'layerWrite' }),
  ]
  return { groups: pairs.map(({ group }) => group), reaches: pairs.flatMap(({ reaches }) => reaches) }
}

/** Every turn is one command. Returns why there are no figures, if there are none. */
async function hold(settings: Settings): Promise<Held | string> {
  const script = fileURLToPath(new URL('hold.ts', import.meta.url))
  const turns = String(settings.rounds * turnsARound)
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [script, turns], {
      env: environmentOf(settings),
    })
    return JSON.parse(stdout)
  } catch (error) {
    return faultLine(error)
  }
}

interface Pair {
  readonly title: string
  readonly held: Held | string
  readonly plain: keyof Held
  readonly layer: keyof Held
}

function pair({ title, held, plain, layer }: Pair): { group: Group; reaches: Reach[] } {
  const series = (name: string, key: keyof Held): Series =>
    typeof held === 'string' ? { name, values: [], failed: held } : { name, values: held[key] }
  const all = [series(plainName, plain), series(layerName, layer)]
  const [without, within] = [named(all, plainName), named(all, layerName)]
  const more = within?.values.map((value, index) => value - (without?.values[index] ?? Number.NaN))
  return {
    group: {
      title: `${title}, 10,000 files, by turns`,
      unit: 'ms',
      against: [{ name: plainName, as: 'no layer' }],
      series: all,
    },
    reaches: [
      { what: `${title}: in a layer / without`, unit: '×', value: ratio(within, without), atMost: 1.25 },
      { what: `${title}: in a layer − without`, unit: 'ms', value: more && median(more), atMost: 3 },
    ],
  }
}
