import type { BeginRecord } from '../../contract/evidence.ts'
import type { BeginEntry } from '../../contract/evidence-log.ts'
import type { Registered } from '../../contract/registry.ts'
import { digest } from '../../kit/json/digest.ts'
import type { CallScope, SessionState } from '../state/scope.ts'
import { isChecked, type Halted } from '../state/call-state.ts'
import { saidDigest } from '../state/said-digest.ts'
import { toBeginText } from './begin-text.ts'
import { redactorOf } from './treatments.ts'

/** The begin of a call, with everything that is known by now: its record, its text, and the body that is kept beside it. */
export function toBegin(
  state: Halted['state'],
  { startedAt, reserved }: { startedAt: number; reserved?: BeginRecord['reserved'] },
  scope: CallScope,
): BeginEntry {
  const begin = toUsual(state, startedAt, scope)
  const rest = toRest(state, scope)
  const body = toBody(state, rest, scope)
  if (reserved !== undefined) rest.reserved = reserved
  const { registered } = state
  const entry: BeginEntry = { record: begin, body }
  if (registered !== undefined) entry.text = toBeginText(begin, rest, { registered, session: scope.session })
  Object.assign(begin, rest)
  return entry
}

/** What is kept of the input and of the plan. Their digests stand in the record. */
function toBody(state: Halted['state'], rest: Partial<BeginRecord>, scope: CallScope): string | null {
  const { shownText, saidText, plan } = state
  if (!isChecked(state) || shownText === undefined) return null
  if (shownText !== saidText) rest.said = { input: saidDigest(state, scope.tenant) }
  if (plan === undefined || plan.operations.length === 0) return shownText
  const redactor = redactorOf(state.registered, scope)
  const operations = redactor.json(plan.operations)
  const text = JSON.stringify(operations)
  rest.plan = digest(text)
  const covered = plan.scope === undefined ? undefined : redactor.text(plan.scope)
  if (operations !== plan.operations || covered !== plan.scope)
    rest.said = {
      ...rest.said,
      plan: scope.tenant.store.digest(JSON.stringify([plan.operations, plan.scope])),
    }
  if (covered !== undefined && state.key !== undefined) rest.scope = covered
  return `${shownText}\n${text}`
}

/** What most begins have. `toBeginText` has them in the same order. */
function toUsual(state: Halted['state'], startedAt: number, { tenant, session }: CallScope): BeginRecord {
  const { call, registered, decision } = state
  const begin: BeginRecord = {
    kind: 'begin',
    tenant: session.principal.tenant,
    session: session.id,
    call: call.id,
    actor: session.principal.actor,
    role: session.principal.role,
    origin: call.origin,
    tool: toName(state),
    definition: registered === undefined ? '' : `${registered.definition.version} ${registered.digest}`,
    at: startedAt,
    input: state.shownDigest ?? '',
    policy: tenant.policy.digest,
    writer: tenant.evidence.writer,
  }
  if (session.mode !== 'default') begin.mode = session.mode
  if (!session.standingConsents) begin.standingConsents = false
  if (session.worktree !== undefined) begin.worktree = session.worktree
  if (state.profile !== undefined) begin.profile = state.profile.digest
  if (decision !== undefined)
    begin.decision = { effect: decision.effect, layer: decision.layer, rule: decision.rule }
  return begin
}

/** The name of the tool, or of what is none. */
function toName({ call, registered }: Halted['state']): string {
  return registered?.definition.name ?? String(call.tool).slice(0, 200)
}

/** What few begins have, or what is of one call alone. */
function toRest(state: Halted['state'], { tenant, session }: CallScope): Partial<BeginRecord> {
  const { call, registered, approval } = state
  const rest: Partial<BeginRecord> = {}
  if (call.toolCallId !== call.id) rest.toolCallId = call.toolCallId
  if (session.ancestors !== undefined) rest.parents = toParents(session)
  if (state.partOf !== undefined) rest.partOf = { call: state.partOf.call, part: state.partOf.part }
  if (approval !== undefined) {
    rest.approval = { ...state.answer, decision: approval.decision, preview: approval.binding.previewDigest }
  }
  if (state.consent !== undefined) rest.consent = state.consent
  if (call.trace !== undefined) rest.trace = call.trace
  if (call.counterpart !== undefined) rest.counterpart = call.counterpart
  if (session.observes !== undefined)
    rest.observed = {
      ...session.observes,
      tool: redactorOf(undefined, { tenant, session }).text(call.rawName ?? toName(state)),
    }
  if (state.key !== undefined) {
    rest.idempotencyKey = state.key.name
    if (registered !== undefined) rest.source = sourceOf(registered)
  }
  return rest
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
