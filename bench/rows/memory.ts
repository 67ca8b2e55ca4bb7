import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { faultLine } from '../harness/fault-line.ts'
import { environmentOf } from '../harness/race.ts'
import { median, named, type Row, type Series, type Settings } from '../harness/report.ts'

const registry = 'Handrail, registry of 10,000 tools over an empty one'

/** What a large registry weighs: heap and external memory after collection. */
export async function measure(settings: Settings): Promise<Row> {
  const plain: Series = { name: 'their 10,000 definitions as plain objects', values: [] }
  const ours: Series = { name: registry, values: [] }
  for (let round = 0; round < 3 && ours.failed === undefined; round++) {
    try {
      const weights = await weigh(settings)
      plain.values.push(weights.definitions / 1e6)
      ours.values.push(weights.registry / 1e6)
    } catch (error) {
      ours.failed = faultLine(error)
    }
  }
  const all = [plain, ours]
  return {
    groups: [{ title: 'memory', unit: 'MB', against: [{ name: plain.name, as: 'plain' }], series: all }],
    reaches: [
      { what: '10,000 tools', unit: 'MB', value: median(named(all, registry)?.values ?? []), atMost: 60 },
    ],
  }
}

async function weigh(settings: Settings): Promise<{ definitions: number; registry: number }> {
  const script = fileURLToPath(new URL('weigh.ts', import.meta.url))
  const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', script], {
    env: environmentOf(settings),
  })
  return JSON.parse(stdout)
}
