import type { CallStage } from '../contract/telemetry.ts'

/** Every counter and gauge: what it counts, and by what. A gauge also goes down. */
export const counters = {
  tool_invocations_total: {
    type: 'counter',
    help: 'Calls that ended.',
    labels: ['tool', 'tenant', 'origin'],
  },
  tool_outcomes_total: {
    type: 'counter',
    help: 'Calls that ended, by how: info all well, failure an expected no, fault something broke.',
    labels: ['level', 'outcome'],
  },
  tool_denied_total: { type: 'counter', help: 'Calls that were denied.', labels: ['tool', 'code'] },
  tool_errors_total: {
    type: 'counter',
    help: 'Calls that ended with an error, denials too.',
    labels: ['code'],
  },
  tool_running: {
    type: 'gauge',
    help: 'Calls that have begun and not ended, those that wait for a person too.',
    labels: [],
  },
  tool_budget_bytes: { type: 'counter', help: 'Bytes of inputs and results.', labels: ['dir'] },
  tool_budget_calls: { type: 'counter', help: 'Calls whose tool was started.', labels: [] },
  tool_budget_spent: {
    type: 'counter',
    help: 'Units that ended calls spent, by budget of the policy.',
    labels: ['budget'],
  },
} as const satisfies {
  readonly [name: string]: {
    readonly type: 'counter' | 'gauge'
    readonly help: string
    readonly labels: readonly string[]
  }
}

export type CounterName = keyof typeof counters

/** Values of the labels of a counter, in the order of the table. */
export type LabelValues = readonly string[]

/** The one histogram: how long calls take, in milliseconds, by stage. */
export const latency = {
  name: 'tool_latency_ms',
  help: 'Milliseconds that calls take, in each stage and in total.',
  /** Upper bounds of its buckets. */
  bounds: [
    0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000,
    120_000, 600_000,
  ],
} as const

/** Takes what was measured. */
export interface MetricSink {
  add(counter: CounterName, amount: number, labels: LabelValues): void
  time(stage: CallStage | 'total', ms: number): void
}
