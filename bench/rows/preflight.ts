import { large, small } from '../handrail/preflight.ts'
import { race } from '../harness/race.ts'
import { median, named, ratio, type Row, type Settings } from '../harness/report.ts'

/** What would happen to a call, in a small and in a large house: the 95th percentile of single preflights. */
export async function measure(settings: Settings): Promise<Row> {
  const all = await race([new URL('../handrail/preflight.ts', import.meta.url)], settings, {
    percentile: 0.95,
  })
  return {
    groups: [
      {
        title: 'preflight (each round counts by its p95)',
        unit: 'µs',
        against: [{ name: small, as: 'small' }],
        series: all,
      },
    ],
    reaches: [
      { what: large, unit: 'µs', value: median(named(all, large)?.values ?? []), atMost: 100 },
      {
        what: `${large} / ${small}`,
        unit: '×',
        value: ratio(named(all, large), named(all, small)),
        atMost: 1.5,
      },
    ],
  }
}
