import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { faultLine } from '../harness/fault-line.ts'
import { environmentOf } from '../harness/race.ts'
import { median, named, type Row, type Series, type Settings } from '../harness/report.ts'

const verified = 'verify, one record'
const grown = 'store, one call of 200 bytes in and out'

/** How fast a chain is verified, and how much a call adds to the store. */
export async function measure(settings: Settings): Promise<Row> {
  const time: Series = { name: verified, values: [] }
  const size: Series = { name: grown, values: [] }
  for (let round = 0; round < 3 && time.failed === undefined; round++) {
    try {
      const measured = await keep(settings)
      time.values.push(...measured.verifyUs)
      size.values.push(measured.kilobytes)
    } catch (error) {
      time.failed = faultLine(error)
    }
  }
  return {
    groups: [
      { title: 'evidence', unit: 'µs', against: [], series: [time] },
      { title: 'store', unit: 'KB', against: [], series: [size] },
    ],
    reaches: [
      {
        what: 'verify, one record (5 µs is 200,000 records/s)',
        unit: 'µs',
        value: median(named([time], verified)?.values ?? []),
        atMost: 5,
      },
      { what: grown, unit: 'KB', value: median(named([size], grown)?.values ?? []), atMost: 1.5 },
    ],
  }
}

async function keep(settings: Settings): Promise<{ verifyUs: number[]; kilobytes: number }> {
  const script = fileURLToPath(new URL('keep.ts', import.meta.url))
  const { stdout } = await promisify(execFile)(process.execPath, [script], { env: environmentOf(settings) })
  return JSON.parse(stdout)
}
