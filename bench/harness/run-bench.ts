import { readFileSync, statfsSync, writeFileSync } from 'node:fs'
import { availableParallelism, cpus, tmpdir } from 'node:os'
import { printReaches, printRow } from './print.ts'
import type { Row, Settings } from './report.ts'

/** The rows in the order in which they are printed; each is a file under `rows/`. */
const rowNames = [
  'calls',
  'preflight',
  'agents',
  'family',
  'governance',
  'telemetry',
  'programs',
  'evidence',
  'records',
  'tasks',
  'search',
  'memory',
  'startup',
  'hooks',
  'files',
  'commands',
  'layers',
  'gateway',
  'upstreams',
  'soak',
]

/** Measures and prints every row, or one. Returns whether every contender could be measured. */
export async function runBench(
  settings: Settings,
  { only, json, keep, quick = false }: { only?: string; json?: string; keep?: string; quick?: boolean },
): Promise<boolean> {
  if (only !== undefined && !rowNames.includes(only))
    throw new Error(`There is no row "${only}"; the rows are ${rowNames.join(', ')}.`)
  const about = describeRun(settings)
  process.stdout.write(`${about.join('\n')}\n`)
  const rows: Row[] = []
  for (const name of rowNames.filter((row) => only === undefined || row === only)) {
    const { measure }: { measure: (settings: Settings) => Promise<Row> } = await import(`../rows/${name}.ts`)
    const row = await measure(settings)
    rows.push(row)
    printRow(row)
  }
  const reaches = rows.flatMap((row) => row.reaches)
  printReaches(reaches)
  const run = {
    about,
    day: new Date().toISOString().slice(0, 10),
    quick,
    only: only ?? null,
    groups: rows.flatMap((row) => row.groups),
    reaches,
  }
  if (json !== undefined) writeFileSync(json, `${JSON.stringify(run, null, 2)}\n`)
  if (keep !== undefined) writeFileSync(keep, toKept(run))
  return rows.every((row) =>
    row.groups.every(({ series }) => series.every(({ failed }) => failed === undefined)),
  )
}

function describeRun(settings: Settings): string[] {
  const peers: { dependencies: { [name: string]: string } } = JSON.parse(
    readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
  )
  const tmpfs = statfsSync(tmpdir()).type === 0x01021994
  return [
    `Node ${process.version} on ${availableParallelism()} × ${cpus()[0]?.model ?? 'unknown CPU'}; ${settings.rounds} rounds of ${settings.roundMs} ms, one contender at a time`,
    Object.entries(peers.dependencies)
      .map(([name, version]) => `${name} ${version}`)
      .join(', '),
    ...(tmpfs ? [`${tmpdir()} is in memory: the durable rows say nothing about a disk`] : []),
  ]
}

/** The figures with as many digits as say something, and those of a series in one line. */
function toKept(run: object): string {
  const isFigure = (value: unknown): value is number => typeof value === 'number' && !Number.isInteger(value)
  const short = JSON.stringify(
    run,
    (_key, value: unknown) => (isFigure(value) ? Number(value.toPrecision(4)) : value),
    1,
  )
  return `${short.replace(/\[[\d\s.,e-]*\]/g, (list) => list.replace(/\s+/g, ''))}\n`
}
