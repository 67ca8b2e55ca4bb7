import type { EndRecord, EventName } from '../../contract/evidence.ts'
import type { ToolResult } from '../../contract/base/result.ts'
import { digest } from '../../kit/json/digest.ts'
import type { CallScope } from '../state/scope.ts'

/** The end record of a call whose result is kept as `body`. */
export function toEndRecord(
  result: ToolResult,
  body: string,
  about: {
    scope: CallScope
    now: number
    bytesIn: number
    outlived: boolean
    spent: EndRecord['spent']
    approval: EndRecord['approval']
    counterpart?: EndRecord['counterpart']
  },
): EndRecord {
  const { session } = about.scope
  const end: EndRecord = {
    kind: 'end',
    tenant: session.principal.tenant,
    session: session.id,
    call: result.callId,
    tool: result.tool,
    at: about.now,
    outcome: result.outcome,
    result: digest(body),
    bytesIn: about.bytesIn,
    bytesOut: body.length,
    durationMs: result.metadata.durationMs,
  }
  if (about.approval !== undefined) end.approval = about.approval
  if (about.outlived) end.outlived = true
  if (about.counterpart !== undefined) end.counterpart = about.counterpart
  if (about.spent !== undefined) end.spent = about.spent
  if (result.error !== undefined) {
    end.code = result.error.code
    end.reason = result.error.reason
  }
  if (result.artifacts.length > 0) end.artifacts = result.artifacts.map((artifact) => artifact.digest)
  return end
}

/** What happened, by the outcome of the call. */
export function toEventName(result: ToolResult): EventName {
  switch (result.outcome) {
    case 'ok':
      return 'tool_completed'
    case 'denied':
    case 'waiting':
      return 'tool_denied'
    case 'aborted':
      return 'aborted_tools'
    case 'failed':
    case 'unknown':
      return 'tool_failed'
  }
}
