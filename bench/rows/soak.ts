import { soak, type Soaked } from '../gateway/soak.ts'
import { faultLine } from '../harness/fault-line.ts'
import type { Reach, Row, Series, Settings } from '../harness/report.ts'

/** Ten minutes, or one with `--quick`; `BENCH_SOAK_MINUTES` takes its place. */
const minutesOf = ({ rounds }: Settings): number =>
  Number(process.env.BENCH_SOAK_MINUTES ?? (rounds < 10 ? 1 : 10))

const memory = 'resident memory of the gateway'

/** Two hundred calls a second while the servers behind the gateway are killed and started again: nothing is lost, nothing is done twice. */
export async function measure(settings: Settings): Promise<Row> {
  process.env.HANDRAIL_INSTALLED = settings.installed
  const series: Series = { name: memory, values: [] }
  let soaked: Soaked | undefined
  try {
    soaked = await soak(minutesOf(settings) * 60_000)
    series.values.push(...soaked.residentMb)
    series.remark = describe(soaked)
  } catch (error) {
    series.failed = faultLine(error)
  }
  const calls = (what: string, value: number | undefined): Reach => ({
    what,
    unit: 'calls',
    value,
    atMost: 0,
  })
  return {
    groups: [
      { title: `soak of ${minutesOf(settings)} min, every 5 s`, unit: 'MB', against: [], series: [series] },
    ],
    reaches: [
      calls('soak: never answered', soaked?.unanswered),
      calls('soak: answered as done, and not done', soaked?.lost),
      calls('soak: done more than once', soaked?.doubled),
      { what: 'soak: growth after the first minute', unit: '%', value: soaked?.growth, atMost: 10 },
    ],
  }
}

function describe({ made, ok, failed, kills, callsPerSecond }: Soaked): string {
  return `${made} calls, ${callsPerSecond.toFixed(0)}/s, ${ok} done, ${failed} refused or failed, ${kills} servers killed`
}
