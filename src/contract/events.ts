import type { EventName } from './evidence.ts'
import type { Json } from './base/json.ts'
import type { Role } from './base/principal.ts'

/** What watchers of a runtime see, in order. Secrets are redacted. */
export interface RuntimeEvent {
  type:
    | EventName
    | 'tool_progress'
    | 'permission_requested'
    | 'permission_deferred'
    | 'permission_decided'
    | 'permission_refused'
    | 'elicitation_asked'
    | 'elicitation_answered'
    | 'tool_quarantined'
    | 'duplicate_tool'
    | 'service_missing'
    | 'instructions_read'
    | 'mode_changed'
    | 'turn_ended'
    | 'compacted'
  /** Counts up within a session: the order's truth. */
  sequence: number
  /** fault: Handrail or the tool broke; failure: an expected no; info: all well. */
  level: 'info' | 'failure' | 'fault'
  /** Milliseconds since the epoch. */
  at: number
  tenant: string
  session: string
  call?: string
  toolCallId?: string
  tool?: string
  actor?: string
  role?: Role
  summary: string
  data?: { readonly [key: string]: Json }
}
