import type { NoteRecord } from '../../contract/evidence.ts'
import type { SessionApproval } from '../../contract/runtime.ts'
import type { TenantContext, CallScope, SessionState } from '../state/scope.ts'
import type { Authorised } from '../state/call-state.ts'
import { saidDigest } from '../state/said-digest.ts'

/** What a yes for the session covers: the tool that the person saw, and the scope of its plan, or this very input if the plan names no scope. */
export function approvalKey(
  authorised: Authorised,
  scope: string | undefined,
  tenant: TenantContext,
): string {
  return `${authorised.registered.identity} ${scope ?? saidDigest(authorised, tenant)}`
}

/** What the person has to say if a yes covers one input only. */
export const thisInput = 'this very input'

/** Keeps the yes of a person to this call for its session. */
export function keepApproval(
  authorised: Authorised,
  scope: string | undefined,
  { tenant, session }: CallScope,
): void {
  const { identity, definition } = authorised.registered
  const { name: tool, consent } = definition
  const givenAt = tenant.now()
  session.approvals.set(approvalKey(authorised, scope, tenant), {
    call: authorised.call.id,
    tool,
    identity,
    scope: scope ?? thisInput,
    givenAt,
    ...(consent.validForMs !== undefined && { expiresAt: givenAt + consent.validForMs }),
    until: tenant.tick() + (consent.validForMs ?? Number.POSITIVE_INFINITY),
  })
}

/** The yeses for the session that hold now. */
export function listApprovals(session: SessionState, tick: number): SessionApproval[] {
  return [...session.approvals.entries()]
    .map(([, held]) => held)
    .filter(
      ({ until, tool, identity }) => until > tick && session.find(tool, 'canonical')?.identity === identity,
    )
    .map(({ call, tool, scope, givenAt, expiresAt }) => ({
      call,
      tool,
      scope,
      givenAt,
      ...(expiresAt !== undefined && { expiresAt }),
    }))
}

/** Takes the yes back that was given to this call. False if none holds. */
export function revokeApproval(call: string, by: string, { tenant, session }: CallScope): boolean {
  for (const [key, given] of session.approvals.entries()) {
    if (given.call !== call) continue
    session.approvals.delete(key)
    tenant.evidence.note(toNote(given, by, { tenant, session }))
    return given.until > tenant.tick()
  }
  return false
}

function toNote(
  { call, tool, scope }: SessionApproval,
  by: string,
  { tenant, session }: CallScope,
): NoteRecord {
  const { tenant: name, actor } = session.principal
  return {
    kind: 'note',
    event: 'consent_revoked',
    tenant: name,
    session: session.id,
    call,
    at: tenant.now(),
    actor: by,
    tool,
    message: `${by} took back the yes for the session to ${tool} (${scope}) for ${actor}`,
    data: { consent: call, scope, for: actor },
  }
}
