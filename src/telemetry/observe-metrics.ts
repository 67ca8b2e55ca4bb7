import type { Call } from '../contract/base/call.ts'
import type { CallObserver, CallStage } from '../contract/telemetry.ts'
import { logLevel } from '../kit/result/log-level.ts'
import { createLabelBound } from './label-bound.ts'
import type { MetricSink } from './metric-table.ts'

const maxTools = 200
const maxTenants = 100
const maxBudgets = 100
/** Stands for every name that no tool has. */
const unknownTool = 'unknown'

/** Where a call is, and since when on the clock that only goes forward. */
interface Progress {
  readonly beganAt: number
  stage: CallStage
  enteredAt: number
}

/** Measures every call for this sink. */
export function observeMetrics(sink: MetricSink): CallObserver {
  const running = new Map<Call, Progress>()
  const toolLabel = createLabelBound(maxTools)
  const tenantLabel = createLabelBound(maxTenants)
  const budgetLabel = createLabelBound(maxBudgets)
  const leave = (progress: Progress, now: number): void => sink.time(progress.stage, now - progress.enteredAt)
  return {
    began(call) {
      const now = performance.now()
      running.set(call, { beganAt: now, stage: 'preflight', enteredAt: now })
      sink.add('tool_running', 1, [])
    },
    enters(call, stage) {
      const progress = running.get(call)
      if (progress === undefined) return
      const now = performance.now()
      leave(progress, now)
      progress.stage = stage
      progress.enteredAt = now
    },
    within: (_call, run) => run(),
    ended(call, result, { definition, ran, bytesIn, bytesOut, spent }) {
      const { outcome, error } = result
      const tool = definition === undefined ? unknownTool : toolLabel(definition.name)
      sink.add('tool_invocations_total', 1, [tool, tenantLabel(call.principal.tenant), call.origin])
      sink.add('tool_outcomes_total', 1, [logLevel(result), outcome])
      if (outcome === 'denied') sink.add('tool_denied_total', 1, [tool, error?.code ?? ''])
      if (error !== undefined) sink.add('tool_errors_total', 1, [error.code])
      if (bytesIn > 0) sink.add('tool_budget_bytes', bytesIn, ['in'])
      sink.add('tool_budget_bytes', bytesOut, ['out'])
      if (ran) sink.add('tool_budget_calls', 1, [])
      if (spent !== undefined)
        for (const [budget, units] of Object.entries(spent))
          sink.add('tool_budget_spent', units, [budgetLabel(budget)])
      const progress = running.get(call)
      if (progress === undefined) return
      running.delete(call)
      sink.add('tool_running', -1, [])
      const now = performance.now()
      leave(progress, now)
      sink.time('total', now - progress.beganAt)
    },
  }
}
