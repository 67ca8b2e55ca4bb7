import { atOnce, direct, empty, fromProgram } from '../handrail/programs.ts'
import { race } from '../harness/race.ts'
import { median, named, ratio, type Row, type Settings } from '../harness/report.ts'

/** What programs of models cost: to start one, and each of their calls. */
export async function measure(settings: Settings): Promise<Row> {
  const series = await race([new URL('../handrail/programs.ts', import.meta.url)], settings)
  const started = median(named(series, empty)?.values ?? [])
  return {
    groups: [
      {
        title: 'one call of a validated tool, in memory; and one program',
        unit: 'µs',
        against: [{ name: direct, as: 'direct' }],
        series,
      },
    ],
    reaches: [
      {
        what: 'a call of a program / a call of the session',
        unit: '×',
        value: ratio(named(series, fromProgram), named(series, direct)),
        atMost: 1.5,
      },
      {
        what: 'the same, 100 at once',
        unit: '×',
        value: ratio(named(series, atOnce), named(series, direct)),
        atMost: 1.5,
      },
      {
        what: 'a program without a call, from call to result, in a warm thread',
        unit: 'ms',
        value: started === undefined ? undefined : started / 1_000,
        atMost: 2,
      },
    ],
  }
}
