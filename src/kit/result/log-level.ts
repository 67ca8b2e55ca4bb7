import type { RuntimeEvent } from '../../contract/events.ts'
import type { ToolResult } from '../../contract/base/result.ts'

/** fault: Handrail, the tool or the machine broke; failure: an expected no; info: all well. */
export function logLevel({ ok, outcome, error }: ToolResult): RuntimeEvent['level'] {
  if (ok) return 'info'
  if (outcome === 'denied' || outcome === 'aborted' || outcome === 'waiting') return 'failure'
  if (outcome === 'unknown') return 'fault'
  const broke =
    error?.actor === 'developer' || error?.code === 'PROVIDER.UNAVAILABLE' || error?.reason === 'failed'
  return broke ? 'fault' : 'failure'
}
