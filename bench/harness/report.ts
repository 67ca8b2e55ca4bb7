/** How long and how often is measured. */
export interface Settings {
  rounds: number
  /** Milliseconds that one round of one contender takes. */
  roundMs: number
  /** Directory in which the packed package is installed; what is measured is what users have. */
  installed: string
}

/** What one contender gave, round by round. Values of the same index were taken next to each other. */
export interface Series {
  name: string
  values: number[]
  /** Why there are no values, or no more. */
  failed?: string
  /** Something the reader has to know to compare. */
  remark?: string
}

/** Lines of the table that belong together. */
export interface Group {
  title: string
  unit: 'µs' | 'ms' | 'MB' | 'KB'
  /** The series to which all are compared, one column each, and how its column is headed. */
  against: readonly { name: string; as: string }[]
  series: readonly Series[]
}

/** A promise about a figure. `value` is undefined if it could not be taken. */
export interface Reach {
  what: string
  unit: string
  value: number | undefined
  atMost: number
}

/** What a file under `rows/` gives. */
export interface Row {
  groups: Group[]
  reaches: Reach[]
}

export function median(values: readonly number[]): number | undefined {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  const upper = sorted[middle]
  const lower = sorted[sorted.length % 2 === 0 ? middle - 1 : middle]
  return upper === undefined || lower === undefined ? undefined : (lower + upper) / 2
}

/** The 95th percentile, by nearest rank. */
export function p95(values: readonly number[]): number | undefined {
  return values.toSorted((a, b) => a - b)[Math.ceil(values.length * 0.95) - 1]
}

/** The median of the ratios that were taken round by round. */
export function ratio(series: Series | undefined, base: Series | undefined): number | undefined {
  if (series === undefined || base === undefined) return undefined
  const ratios = series.values.flatMap((value, index) => {
    const other = base.values[index]
    return other === undefined ? [] : [value / other]
  })
  return median(ratios)
}

/** The series of this name. Undefined if it gave nothing. */
export function named(all: readonly Series[], name: string): Series | undefined {
  return all.find((series) => series.name === name && series.failed === undefined)
}

/** Three significant digits; whole numbers from a hundred on. */
export function showFigure(value: number | undefined): string {
  if (value === undefined) return '–'
  return Math.abs(value) >= 100 ? Math.round(value).toLocaleString('en-US') : value.toPrecision(3)
}
