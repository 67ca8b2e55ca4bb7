import type { BeginRecord } from '../../contract/evidence.ts'
import type { ToolResult } from '../../contract/base/result.ts'
import type { CallRequest } from '../../contract/call-request.ts'
import type { WaitingCall } from '../../contract/pending-approval.ts'
import { callError } from '../../kit/result/call-error.ts'
import { decodeResult } from '../../kit/result/encode-result.ts'
import { readRecord } from '../../kit/result/read-record.ts'
import type { KeptQuestion } from '../state/approval-book.ts'
import type { CallScope } from '../state/scope.ts'

/**
 * The result of a call that went on before, in this process or another: it does not run again. As it was recorded, if the same caller asks under the
 * same policy; else without what it says. Undefined if it did not go on yet.
 */
export function findEarlier(
  { approval: { usedBy: callId } }: KeptQuestion,
  { call }: WaitingCall,
  scope: CallScope,
): ToolResult | undefined {
  return callId === undefined ? undefined : recallResult(callId, call.id, scope)
}

/** What has become of a call that was begun; undefined if the store knows none of this id. */
export function recallResult(
  callId: string,
  id: CallRequest['id'],
  scope: CallScope,
): ToolResult | undefined {
  const { tenant, session } = scope
  const records = [...tenant.store.records({ tenant: session.principal.tenant, call: callId })]
  const begun = records.find(({ kind }) => kind === 'begin')
  if (begun === undefined) return undefined
  const begin = readRecord(begun.text, 'begin')
  const end = records.find(({ kind }) => kind === 'end')
  const about = {
    callId,
    toolCallId: String(id ?? callId),
    tool: begin.tool,
    session: session.id,
    durationMs: 0,
  }
  const body = end?.body ?? null
  if (body !== null && isOfSame(begin, scope)) return decodeResult(body, about)
  const outcome = end === undefined ? undefined : readRecord(end.text, 'end').outcome
  const error =
    outcome === undefined
      ? callError('TOOL.TIMEOUT', 'still_running', {
          message: `"${begin.tool}" went on already as ${callId}, and has not ended. It is not run again.`,
        })
      : callError('POLICY.APPROVAL_DENIED', 'approval_stale', {
          message: `"${begin.tool}" went on already as ${callId}, and ended with "${outcome}". It is not run again; what it returned is in the evidence.`,
          data: { outcome },
        })
  return decodeResult(JSON.stringify({ error, content: [{ type: 'text', text: error.message }] }), about)
}

function isOfSame(
  { actor, role, session: id, policy }: BeginRecord,
  { tenant, session }: CallScope,
): boolean {
  const { principal } = session
  return (
    actor === principal.actor &&
    role === principal.role &&
    id === session.id &&
    policy === tenant.policy.digest
  )
}
