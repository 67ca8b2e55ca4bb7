import type { Meter, UpDownCounter } from '@opentelemetry/api'
import { counters, latency, type CounterName, type MetricSink } from './metric-table.ts'

/** Hands what is measured to instruments of this meter. */
export function toOtelSink(meter: Meter): MetricSink {
  const byName = new Map<CounterName, UpDownCounter>()
  const histogram = meter.createHistogram(latency.name, {
    description: latency.help,
    unit: 'ms',
    advice: { explicitBucketBoundaries: [...latency.bounds] },
  })
  const counterOf = (name: CounterName): UpDownCounter => {
    const known = byName.get(name)
    if (known !== undefined) return known
    const { type, help: description } = counters[name]
    const counter =
      type === 'gauge'
        ? meter.createUpDownCounter(name, { description })
        : meter.createCounter(name, { description })
    byName.set(name, counter)
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
