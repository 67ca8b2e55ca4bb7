import { ripgrep, readingFloor } from '../floors/files.ts'
import { makeDirectory } from '../handrail/load.ts'
import { readName, searchName } from '../handrail/files.ts'
import { race } from '../harness/race.ts'
import { named, ratio, type Row, type Settings } from '../harness/report.ts'
import { writeTree } from '../harness/tree.ts'

/** Search and reading, against what they stand on. */
export async function measure(settings: Settings): Promise<Row> {
  const { directory, remove } = makeDirectory()
  writeTree(directory)
  const all = await race(
    ['../floors/files.ts', '../handrail/files.ts'].map((path) => new URL(path, import.meta.url)),
    settings,
    { environment: { BENCH_TREE: directory } },
  )
  remove()
  const pair = (...names: string[]) => all.filter((series) => names.includes(series.name))
  return {
    groups: [
      {
        title: 'one search through 3,000 files, 200 hits',
        unit: 'ms',
        against: [{ name: ripgrep, as: 'ripgrep' }],
        series: pair(ripgrep, 'ripgrep, no flags', searchName).map(({ values, ...rest }) => ({
          ...rest,
          values: values.map((value) => value / 1000),
        })),
      },
      {
        title: 'one read of a file of 10 kB',
        unit: 'µs',
        against: [{ name: readingFloor, as: 'readFile' }],
        series: pair(readingFloor, 'fs.readFileSync', readName),
      },
    ],
    reaches: [
      {
        what: 'code.search / ripgrep',
        unit: '×',
        value: ratio(named(all, searchName), named(all, ripgrep)),
        atMost: 1.2,
      },
      {
        what: 'files.read / fs.readFile',
        unit: '×',
        value: ratio(named(all, readName), named(all, readingFloor)),
        atMost: 4,
      },
    ],
  }
}
