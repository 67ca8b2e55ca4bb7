import type { Counter, Meter } from '@opentelemetry/api'
import { counters, latency, type CounterName, type MetricSink } from './metric-table.ts'

/** Hands what is measured to instruments of this meter. */
export function toOtelSink(meter: Meter): MetricSink {
  const byName = new Map<CounterName, Counter>()
  const histogram = meter.createHistogram(latency.name, {
    description: latency.help,
    unit: 'ms',
    advice: { explicitBucketBoundaries: [...latency.bounds] },
  })
  const counterOf = (name: CounterName): Counter => {
    let counter = byName.get(name)
    if (counter === undefined)
      byName.set(name, (counter = meter.createCounter(name, { description: counters[name].help })))
    return counter
  }
  return {
    add(name, amount, values) {
      const labels = counters[name].labels.map((label, index) => [label, values[index] ?? ''])
      counterOf(name).add(amount, Object.fromEntries(labels))
    },
    time: (stage, ms) => histogram.record(ms, { stage }),
  }
}
