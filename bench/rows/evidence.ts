import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { faultLine } from '../harness/fault-line.ts'
import { environmentOf } from '../harness/race.ts'
import { median, named, type Row, type Series, type Settings } from '../harness/report.ts'

const verified = 'verify one record and its signature'
const grown = 'one call of 200 bytes in and out, everything on, signed, packed once it is older'
const grownKeyed = 'the same with a key, until its window is over'

/** How fast a chain is verified, and how much a call adds to the store. */
export async function measure(settings: Settings): Promise<Row> {
  const time: Series = { name: verified, values: [] }
  const size: Series = { name: grown, values: [] }
  const keyedSize: Series = { name: grownKeyed, values: [] }
  await takeRounds(3, time, async () => {
    const measured = await keep(settings, [])
    time.values.push(...measured.verifyUs)
    size.values.push(measured.kilobytes)
  })
  await takeRounds(1, keyedSize, async () => {
    keyedSize.values.push((await keep(settings, ['keyed'])).kilobytes)
  })
  const verifyUs = median(named([time], verified)?.values ?? [])
  return {
    groups: [
      { title: 'evidence', unit: 'µs', against: [], series: [time] },
      { title: 'store', unit: 'KB', against: [], series: [size, keyedSize] },
    ],
    reaches: [
      { what: `${verified} (2 µs is 500,000 records/s)`, unit: 'µs', value: verifyUs, atMost: 2 },
      { what: grown, unit: 'KB', value: median(named([size], grown)?.values ?? []), atMost: 0.8 },
    ],
  }
}

async function takeRounds(rounds: number, series: Series, round: () => Promise<void>): Promise<void> {
  for (let taken = 0; taken < rounds && series.failed === undefined; taken++) {
    try {
      await round()
    } catch (error) {
      series.failed = faultLine(error)
    }
  }
}

async function keep(
  settings: Settings,
  argv: readonly string[],
): Promise<{ verifyUs: number[]; kilobytes: number }> {
  const script = fileURLToPath(new URL('keep.ts', import.meta.url))
  const options = { env: environmentOf(settings) }
  const { stdout } = await promisify(execFile)(process.execPath, [script, ...argv], options)
  return JSON.parse(stdout)
}
