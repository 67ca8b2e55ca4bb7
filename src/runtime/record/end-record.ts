import type { EndRecord, EventName } from '../../contract/evidence.ts'
import type { ToolResult } from '../../contract/base/result.ts'
import { digest } from '../../kit/json/digest.ts'
import { membersText } from '../../kit/json/members-text.ts'
import type { CallScope, SessionState } from '../state/scope.ts'

interface About {
  scope: CallScope
  now: number
  bytesIn: number
  outlived: boolean
  spent: EndRecord['spent']
  approval: EndRecord['approval']
  counterpart?: EndRecord['counterpart']
}

/** The end of a call whose result is kept as `body`, with its text. */
export function toEnd(
  result: ToolResult,
  body: string,
  about: About,
): { record: EndRecord; body: string; text: string } {
  const record = toUsual(result, body, about)
  const rest = toRest(result, about)
  const text = toEndText(record, rest, about.scope.session)
  return { record: Object.assign(record, rest), body, text }
}

/** What every end has. `toEndText` has it in the same order. */
function toUsual(result: ToolResult, body: string, about: About): EndRecord {
  const { session } = about.scope
  return {
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
}

function toRest(result: ToolResult, about: About): Partial<EndRecord> {
  const end: Partial<EndRecord> = {}
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

/** What the ends of a session for one tool say alike: up to the id of the call, and from there to its time. */
interface Alike {
  readonly head: string
  readonly middle: string
}

const known = new WeakMap<SessionState, Map<string, Alike>>()

/** The same text that `JSON.stringify` has for an end. */
function toEndText(end: EndRecord, rest: Partial<EndRecord>, session: SessionState): string {
  const { head, middle } = findAlike(end, session)
  const { call, at, outcome, result, bytesIn, bytesOut, durationMs } = end
  return `${head}${call}${middle}${at},"outcome":"${outcome}","result":"${result}","bytesIn":${bytesIn},"bytesOut":${bytesOut},"durationMs":${durationMs}${membersText(rest)}}`
}

/** Names that name no tool are anybody's. */
const mostNames = 1_000

function findAlike({ kind, tenant, session: id, tool }: EndRecord, session: SessionState): Alike {
  let ofSession = known.get(session)
  if (ofSession === undefined) known.set(session, (ofSession = new Map()))
  let alike = ofSession.get(tool)
  if (alike === undefined) {
    if (ofSession.size >= mostNames) ofSession.clear()
    const head = `{${membersText({ kind, tenant, session: id }).slice(1)},"call":"`
    ofSession.set(tool, (alike = { head, middle: `"${membersText({ tool })},"at":` }))
  }
  return alike
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
