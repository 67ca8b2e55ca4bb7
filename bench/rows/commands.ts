import { spawnFloor } from '../floors/commands.ts'
import { hostName, isolatedName } from '../handrail/commands.ts'
import { makeDirectory } from '../handrail/load.ts'
import { sandboxRuntimeName } from '../peers/sandbox-runtime.ts'
import { race } from '../harness/race.ts'
import { named, ratio, type Row, type Settings } from '../harness/report.ts'
import { measureGrowth } from './growth.ts'

/** Running a program that does nothing, against starting it without anything around it, in small processes and large ones. */
export async function measure(settings: Settings): Promise<Row> {
  const { directory, remove } = makeDirectory()
  const all = await race(
    ['../floors/commands.ts', '../handrail/commands.ts', '../peers/sandbox-runtime.ts'].map(
      (path) => new URL(path, import.meta.url),
    ),
    settings,
    { environment: { BENCH_TREE: directory } },
  )
  remove()
  const growth = await measureGrowth(settings)
  return {
    groups: [
      {
        title: 'one run of a program that does nothing',
        unit: 'ms',
        against: [{ name: spawnFloor, as: 'spawn' }],
        series: all.map(({ values, ...rest }) => ({ ...rest, values: values.map((value) => value / 1000) })),
      },
      ...growth.groups,
    ],
    reaches: [
      {
        what: 'code.run_command in bubblewrap / spawn',
        unit: '×',
        value: ratio(named(all, isolatedName), named(all, spawnFloor)),
        atMost: 5,
      },
      {
        what: 'code.run_command in bubblewrap / sandbox-runtime',
        unit: '×',
        value: ratio(named(all, isolatedName), named(all, sandboxRuntimeName)),
        atMost: 0.35,
      },
      {
        what: 'code.run_command on the host / spawn',
        unit: '×',
        value: ratio(named(all, hostName), named(all, spawnFloor)),
        atMost: 3,
      },
      ...growth.reaches,
    ],
  }
}
