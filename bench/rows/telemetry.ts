import { counted, unwatched } from '../handrail/telemetry.ts'
import { race } from '../harness/race.ts'
import { named, ratio, type Row, type Settings } from '../harness/report.ts'

/** What it costs to have calls counted and timed. */
export async function measure(settings: Settings): Promise<Row> {
  const series = await race([new URL('../handrail/telemetry.ts', import.meta.url)], settings)
  return {
    groups: [
      {
        title: 'one call of a validated tool, in memory',
        unit: 'µs',
        against: [{ name: unwatched, as: 'unwatched' }],
        series,
      },
    ],
    reaches: [
      {
        what: 'metrics for Prometheus / without a watcher',
        unit: '×',
        value: ratio(named(series, counted), named(series, unwatched)),
        atMost: 1.15,
      },
    ],
  }
}
