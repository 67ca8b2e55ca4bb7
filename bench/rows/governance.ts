import { durableName, large, small, widths } from '../handrail/governance.ts'
import { race } from '../harness/race.ts'
import { median, named, ratio, type Row, type Settings } from '../harness/report.ts'

/** What tenants, grants, consents, budgets, obligations and signatures cost together. */
export async function measure(settings: Settings): Promise<Row> {
  const module = (name: string) => new URL(`../handrail/${name}.ts`, import.meta.url)
  const looked = await race([module('governance-preflight')], settings, { percentile: 0.95 })
  const called = await race([module('governance-calls')], settings)
  return {
    groups: [
      {
        title: 'preflight with everything on (each round counts by its p95)',
        unit: 'µs',
        against: [{ name: small, as: 'small' }],
        series: looked,
      },
      ...widths.map((width) => ({
        title: `one durable call, ${width} in flight`,
        unit: 'µs' as const,
        against: [{ name: durableName(width, false), as: 'a rule' }],
        series: called.filter(({ name }) => name.includes(` ${width} in flight`)),
      })),
    ],
    reaches: [
      { what: large, unit: 'µs', value: median(named(looked, large)?.values ?? []), atMost: 150 },
      {
        what: 'the same / 10 tools',
        unit: '×',
        value: ratio(named(looked, large), named(looked, small)),
        atMost: 2,
      },
      ...widths.map((width) => ({
        what: `durable call, ${width} in flight, everything on (1.43 × is 0.7 of its calls/s)`,
        unit: '×',
        value: ratio(named(called, durableName(width, true)), named(called, durableName(width, false))),
        atMost: 1.43,
      })),
    ],
  }
}
