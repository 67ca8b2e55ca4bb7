import {
  median,
  named,
  p95,
  ratio,
  showFigure,
  type Group,
  type Reach,
  type Row,
  type Series,
} from './report.ts'

const nameWidth = 58

/** Prints the groups of a row as lines of a table. */
export function printRow(row: Row): void {
  for (const group of row.groups) printGroup(group)
}

function printGroup(group: Group): void {
  const rates = group.unit === 'µs' ? ['calls/s'] : []
  const heads = [`median ${group.unit}`, 'p95', ...rates, ...group.against.map(({ as }) => `× ${as}`)]
  print('')
  print(group.title.padEnd(nameWidth) + heads.map((head) => head.padStart(12)).join(''))
  for (const series of group.series) print(lineOf(series, group))
}

function lineOf(series: Series, group: Group): string {
  const name = series.name.padEnd(nameWidth)
  if (series.failed !== undefined) return `${name}   not measured: ${series.failed}`
  const middle = median(series.values)
  const rates = group.unit === 'µs' ? [middle === undefined ? undefined : 1e6 / middle] : []
  const ratios = group.against.map((base) => ratio(series, named(group.series, base.name)))
  const cells = [middle, p95(series.values), ...rates, ...ratios].map((value) =>
    showFigure(value).padStart(12),
  )
  return name + cells.join('') + (series.remark === undefined ? '' : `   ${series.remark}`)
}

/** Prints what was promised, what came out, and whether it was reached. */
export function printReaches(reaches: readonly Reach[]): void {
  print('')
  for (const { what, unit, value, atMost } of reaches) {
    const verdict = value === undefined ? 'NOT MEASURED' : value <= atMost ? 'reached' : 'MISSED'
    print(`${verdict.padEnd(13)} ${what}: ${showFigure(value)} ${unit}, at most ${atMost} ${unit}`)
  }
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
