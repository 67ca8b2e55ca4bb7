// First, so that an older Node is told before anything fails on it.
export {} from './kit/require-node.ts'
export type { Call } from './contract/base/call.ts'
export type { CallFacts, CallObserver, CallStage, TelemetryOptions } from './contract/telemetry.ts'
export { createMetrics, type Metrics } from './telemetry/create-metrics.ts'
