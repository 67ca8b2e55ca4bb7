import type { BeginRecord } from '../../contract/evidence.ts'
import type { Registered } from '../../contract/registry.ts'
import { digest } from '../../kit/json/digest.ts'
import type { CallScope, SessionState } from '../state/scope.ts'
import { isChecked, type Halted } from '../state/call-state.ts'
import { saidDigest } from '../state/said-digest.ts'
import { redactorOf } from './treatments.ts'

/** The begin of a call, with everything that is known by now: its record, and the body that is kept beside it. */
export function toBegin(
  state: Halted['state'],
  startedAt: number,
  scope: CallScope,
): { record: BeginRecord; body: string | null } {
  const record = toBeginRecord(state, startedAt, scope)
  const { shownText, saidText, plan } = state
  if (!isChecked(state) || shownText === undefined) return { record, body: null }
  if (shownText !== saidText) record.said = { input: saidDigest(state, scope.tenant) }
  if (plan === undefined || plan.operations.length === 0) return { record, body: shownText }
  const redactor = redactorOf(state.registered, scope)
  const operations = redactor.json(plan.operations)
  const text = JSON.stringify(operations)
  record.plan = digest(text)
  const covered = plan.scope === undefined ? undefined : redactor.text(plan.scope)
  if (operations !== plan.operations || covered !== plan.scope)
    record.said = {
      ...record.said,
      plan: scope.tenant.store.digest(JSON.stringify([plan.operations, plan.scope])),
    }
  if (covered !== undefined && state.key !== undefined) record.scope = covered
  return { record, body: `${shownText}\n${text}` }
}

function toBeginRecord(
  state: Halted['state'],
  startedAt: number,
  { tenant, session }: CallScope,
): BeginRecord {
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
    input: state.shownDigest ?? '',
    policy: tenant.policy.digest,
    writer: tenant.evidence.writer,
  }
  if (call.toolCallId !== call.id) begin.toolCallId = call.toolCallId
  if (session.mode !== 'default') begin.mode = session.mode
  if (!session.standingConsents) begin.standingConsents = false
  if (session.ancestors !== undefined) begin.parents = toParents(session)
  if (state.partOf !== undefined) begin.partOf = { call: state.partOf.call, part: state.partOf.part }
  if (session.worktree !== undefined) begin.worktree = session.worktree
  if (state.profile !== undefined) begin.profile = state.profile.digest
  if (decision !== undefined)
    begin.decision = { effect: decision.effect, layer: decision.layer, rule: decision.rule }
  if (approval !== undefined) {
    begin.approval = { ...state.answer, decision: approval.decision, preview: approval.binding.previewDigest }
  }
  if (state.consent !== undefined) begin.consent = state.consent
  if (call.trace !== undefined) begin.trace = call.trace
  if (call.counterpart !== undefined) begin.counterpart = call.counterpart
  if (session.observes !== undefined)
    begin.observed = {
      ...session.observes,
      tool: redactorOf(undefined, { tenant, session }).text(call.rawName ?? begin.tool),
    }
  if (state.key !== undefined) {
    begin.idempotencyKey = state.key.name
    if (registered !== undefined) begin.source = sourceOf(registered)
  }
  return begin
}

/** The sessions above this one, as a begin names them. */
export function toParents({ ancestors = [] }: SessionState): NonNullable<BeginRecord['parents']> {
  return ancestors.map(({ session, principal, mode }) => ({
    session,
    role: principal.role,
    ...(mode !== 'default' && { mode }),
  }))
}

/** Kind and id of the source of a tool. */
export function sourceOf({ identity }: Registered): string {
  return identity.slice(0, identity.indexOf(' '))
}
