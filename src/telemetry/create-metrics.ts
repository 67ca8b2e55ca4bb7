import type { CallObserver } from '../contract/telemetry.ts'
import { counters, latency, type CounterName, type MetricSink } from './metric-table.ts'
import { observeMetrics } from './observe-metrics.ts'

/** Metrics of one process, kept in memory. */
export interface Metrics {
  readonly observer: CallObserver
  /** Of `text`, for an HTTP response. */
  readonly contentType: string
  /** Everything so far in the Prometheus text format 0.0.4. */
  text(): string
}

// The table is an object of known names.
const counterNames = Object.keys(counters) as CounterName[]

/** Counts of a series by the values of its labels, which are put into text only when a caller asks. */
type Series = Map<string, number>

/** Between the values of several labels: no name of a tool, tenant or code has one. */
const separator = '\0'

interface Histogram {
  /** For each bound, how many were at most that; not of the ones below. */
  readonly counts: number[]
  sum: number
  count: number
}

/**
 * Metrics of the calls of the runtimes that this observer is given to. The labels of a metric have a bounded number of values,
 * and none comes from an input or a result.
 *
 * @example
 * const metrics = createMetrics()
 * const runtime = await createRuntime({ tools, observers: [metrics.observer] })
 * response.setHeader('content-type', metrics.contentType).end(metrics.text())
 */
export function createMetrics(): Metrics {
  const counts = new Map<CounterName, Series>()
  const histograms = new Map<string, Histogram>()
  // Without labels there is one series, which is there from the start.
  for (const name of counterNames)
    if (counters[name].labels.length === 0) counts.set(name, new Map([['', 0]]))
  const sink: MetricSink = {
    add(name, amount, values) {
      let series = counts.get(name)
      if (series === undefined) counts.set(name, (series = new Map()))
      const key = values.length === 1 ? (values[0] ?? '') : values.join(separator)
      series.set(key, (series.get(key) ?? 0) + amount)
    },
    time(stage, ms) {
      let histogram = histograms.get(stage)
      if (histogram === undefined) histograms.set(stage, (histogram = createHistogram()))
      const bucket = latency.bounds.findIndex((bound) => ms <= bound)
      if (bucket >= 0) histogram.counts[bucket] = (histogram.counts[bucket] ?? 0) + 1
      histogram.sum += ms
      histogram.count++
    },
  }
  return {
    observer: observeMetrics(sink),
    contentType: 'text/plain; version=0.0.4; charset=utf-8',
    text: () => showCounters(counts) + showHistograms(histograms),
  }
}

function createHistogram(): Histogram {
  return { counts: latency.bounds.map(() => 0), sum: 0, count: 0 }
}

function showCounters(counts: ReadonlyMap<CounterName, Series>): string {
  let text = ''
  for (const name of counterNames) {
    text += `# HELP ${name} ${counters[name].help}\n# TYPE ${name} ${counters[name].type}\n`
    const { labels } = counters[name]
    for (const [key, count] of counts.get(name) ?? []) {
      const values = labels.length === 1 ? [key] : key.split(separator)
      text += `${name}${showLabels(labels, values)} ${count}\n`
    }
  }
  return text
}

function showHistograms(histograms: ReadonlyMap<string, Histogram>): string {
  const { name, help, bounds } = latency
  let text = `# HELP ${name} ${help}\n# TYPE ${name} histogram\n`
  for (const [stage, { counts, sum, count }] of histograms) {
    let upTo = 0
    for (const [index, bound] of bounds.entries()) {
      upTo += counts[index] ?? 0
      text += `${name}_bucket${showLabels(['stage', 'le'], [stage, String(bound)])} ${upTo}\n`
    }
    text += `${name}_bucket${showLabels(['stage', 'le'], [stage, '+Inf'])} ${count}\n`
    const labels = showLabels(['stage'], [stage])
    text += `${name}_sum${labels} ${sum}\n${name}_count${labels} ${count}\n`
  }
  return text
}

function showLabels(names: readonly string[], values: readonly string[]): string {
  if (names.length === 0) return ''
  return `{${names.map((name, index) => `${name}="${escape(values[index] ?? '')}"`).join(',')}}`
}

function escape(value: string): string {
  return value
    .replaceAll('\\', '\\\\')
    .replaceAll('"', String.raw`\"`)
    .replaceAll('\n', String.raw`\n`)
}
