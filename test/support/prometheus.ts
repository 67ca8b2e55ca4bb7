/** One family of a Prometheus exposition. */
export interface Family {
  type: 'counter' | 'gauge' | 'histogram'
  help: string
  /** Values by sample, such as `tool_errors_total{code="TOOL.FAILED"}`; labels in the order of the text. */
  samples: Map<string, number>
}

const sampleLine = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/
const labelPair = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(,|$)/y
const value = /^(?:[+-]?Inf|NaN|-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)$/i

/**
 * Reads the text format 0.0.4 strictly: every family is described once before its samples, every sample is there once, buckets of a
 * histogram count up to its total. Throws at the first line that is not so.
 */
export function parseExposition(text: string): Map<string, Family> {
  const families = new Map<string, Family>()
  if (!text.endsWith('\n')) throw new Error('The last line does not end.')
  let current: { name: string; family: Family } | undefined
  for (const line of text.slice(0, -1).split('\n')) {
    const fail = (why: string) => new Error(`${why}: ${line}`)
    const help = /^# HELP (\S+) (.+)$/.exec(line)
    if (help !== null) {
      const [, name = '', said = ''] = help
      if (families.has(name)) throw fail('A family is described twice')
      current = { name, family: { type: 'counter', help: said, samples: new Map() } }
      families.set(name, current.family)
      continue
    }
    const type = /^# TYPE (\S+) (counter|gauge|histogram)$/.exec(line)
    if (type !== null) {
      if (current === undefined || current.name !== type[1] || current.family.samples.size > 0)
        throw fail('A type stands elsewhere than below its help')
      current.family.type = type[2] as Family['type']
      continue
    }
    const [, name = '', labels, number = ''] = sampleLine.exec(line) ?? []
    if (current === undefined || name === '' || !value.test(number)) throw fail('This is not a sample')
    const ending = current.family.type === 'histogram' ? name.slice(current.name.length) : ''
    if (name !== current.name + ending || !['', '_bucket', '_sum', '_count'].includes(ending))
      throw fail('A sample stands below another family')
    if (labels !== undefined) checkLabels(labels)
    const key = line.slice(0, line.lastIndexOf(' '))
    if (current.family.samples.has(key)) throw fail('A sample is there twice')
    current.family.samples.set(key, toNumber(number))
  }
  for (const [name, family] of families) if (family.type === 'histogram') checkHistogram(name, family)
  return families
}

/** Samples of a family without its name, such as `{stage="run"}`. */
export function samplesOf(families: Map<string, Family>, name: string): Record<string, number> {
  const { samples } = families.get(name) ?? { samples: new Map<string, number>() }
  return Object.fromEntries([...samples].map(([key, count]) => [key.slice(name.length), count]))
}

function checkLabels(text: string): void {
  const names = new Set<string>()
  let at = 0
  while (at < text.length) {
    labelPair.lastIndex = at
    const pair = labelPair.exec(text)
    if (pair === null || names.has(pair[1] ?? '')) throw new Error(`These are no labels: ${text}`)
    names.add(pair[1] ?? '')
    at = labelPair.lastIndex
  }
}

function toNumber(text: string): number {
  if (/inf$/i.test(text)) return text.startsWith('-') ? -Infinity : Infinity
  return Number(text)
}

function checkHistogram(name: string, { samples }: Family): void {
  const counted = new Map<string, number>()
  const bounds = new Map<string, number>()
  for (const [key, count] of samples) {
    if (!key.startsWith(`${name}_bucket`)) continue
    const bound = /le="([^"]+)"/.exec(key)?.[1] ?? ''
    const series = key.replace(/,?le="[^"]+"/, '').replace('_bucket', '_count')
    if (count < (counted.get(series) ?? 0) || toNumber(bound) <= (bounds.get(series) ?? -Infinity))
      throw new Error(`A bucket does not count up: ${key}`)
    counted.set(series, count)
    bounds.set(series, toNumber(bound))
  }
  if (counted.size === 0 && samples.size > 0) throw new Error(`A histogram has no buckets: ${name}`)
  for (const [series, count] of counted) {
    if (bounds.get(series) !== Infinity || samples.get(series) !== count)
      throw new Error(`The last bucket is not all: ${series}`)
    if (!samples.has(series.replace('_count', '_sum'))) throw new Error(`There is no sum: ${series}`)
  }
}
