import type { BeginRecord } from '../contract/evidence.ts'
import { digest } from '../kit/digest.ts'
import type { Road } from './ground.ts'
import type { Stopped } from './passage.ts'
import { redactorOf } from './treatments.ts'

/** The begin of a call, with everything that is known by now: its record, and the body that is kept beside it. */
export function toBegin(
  state: Stopped['state'],
  startedAt: number,
  road: Road,
): { record: BeginRecord; body: string | null } {
  const record = toBeginRecord(state, startedAt, road)
  const { inputText, plan } = state
  if (inputText === undefined) return { record, body: null }
  if (plan === undefined || plan.operations.length === 0) return { record, body: inputText }
  const operations = JSON.stringify(redactorOf(state.registered, road).json(plan.operations))
  record.plan = digest(operations)
  return { record, body: `${inputText}\n${operations}` }
}

function toBeginRecord(state: Stopped['state'], startedAt: number, { ground, session }: Road): BeginRecord {
  const { call, registered, decision, approval } = state
  const begin: BeginRecord = {
    kind: 'begin',
    tenant: session.principal.tenant,
    session: session.id,
    call: call.id,
    actor: session.principal.actor,
    role: session.principal.role,
    origin: call.origin,
    tool: registered?.definition.name ?? String(call.tool).slice(0, 200),
    definition: registered === undefined ? '' : `${registered.definition.version} ${registered.digest}`,
    at: startedAt,
    input: state.textDigest ?? '',
    policy: ground.policy.digest,
    writer: ground.evidence.writer,
  }
  if (call.toolCallId !== call.id) begin.toolCallId = call.toolCallId
  if (session.mode !== 'default') begin.mode = session.mode
  if (session.ancestors !== undefined)
    begin.parents = session.ancestors.map(({ session: id, principal, mode }) => ({
      session: id,
      role: principal.role,
      ...(mode !== 'default' && { mode }),
    }))
  if (state.profile !== undefined) begin.profile = state.profile.digest
  if (decision !== undefined)
    begin.decision = { effect: decision.effect, layer: decision.layer, rule: decision.rule }
  if (approval !== undefined) {
    begin.approval = { decision: approval.decision, preview: approval.binding.previewDigest }
    if (approval.reason !== undefined) begin.approval.reason = ground.redactor.text(approval.reason)
  }
  if (state.consent !== undefined) begin.consent = state.consent
  if (call.trace !== undefined) begin.trace = call.trace
  if (call.idempotencyKey !== undefined) begin.idempotencyKey = call.idempotencyKey
  return begin
}
