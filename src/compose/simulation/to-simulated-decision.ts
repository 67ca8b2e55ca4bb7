import type { Effect, Layer } from '../../contract/policy.ts'
import type { Preflight } from '../../contract/runtime.ts'

/** What comes out for a call: what decides about it, or why nothing can be said. */
export type SimulatedDecision =
  | {
      decided: true
      effect: Effect
      layer: Layer
      rule: string
      reason: string
      /** Whether a yes for the session answers it, where it asks. */
      keepable: boolean
      /** Absent if not even a session could be opened. */
      report?: Preflight
    }
  | { decided: false; reason: string; report: Preflight }

/** The decision that a preflight comes to. */
export function toSimulatedDecision(report: Preflight): SimulatedDecision {
  const { decision, error } = report
  if (error === undefined || decision?.effect === 'deny') {
    if (decision === undefined) return { decided: false, reason: 'nothing was decided', report }
    const { effect, layer, rule, reason, keepable = true } = decision
    return { decided: true, effect, layer, rule, reason, keepable, report }
  }
  const { code, reason: rule, message: reason } = error
  const deny = (layer: Layer): SimulatedDecision => ({
    decided: true,
    effect: 'deny',
    layer,
    rule,
    reason,
    keepable: false,
    report,
  })
  if (code === 'SANDBOX.CAPABILITY_BLOCKED') return deny('bounds')
  if (code === 'POLICY.DENY_TOOL') return deny('set')
  if (code === 'POLICY.HOOK_DENIED') return deny('hook')
  return { decided: false, reason, report }
}
