import type { NoteRecord } from '../../contract/evidence.ts'
import type { SessionApproval } from '../../contract/runtime.ts'
import type { Ground, Road, Traveller } from '../state/ground.ts'
import type { Authorised } from '../state/passage.ts'
import { saidDigest } from '../state/said-digest.ts'

/** What a yes for the session covers: the tool that the person saw, and the scope of a plan; where it names none, this very input. */
export function grantKey(authorised: Authorised, scope: string | undefined, ground: Ground): string {
  return `${authorised.registered.identity} ${scope ?? saidDigest(authorised, ground)}`
}

/** What the person has to say where a yes covers one input only. */
export const thisInput = 'this very input'

/** Keeps the yes of a person to this call for its session. */
export function keepApproval(
  authorised: Authorised,
  scope: string | undefined,
  { ground, session }: Road,
): void {
  const { identity, definition } = authorised.registered
  const { name: tool, consent } = definition
  const givenAt = ground.now()
  session.grants.set(grantKey(authorised, scope, ground), {
    call: authorised.call.id,
    tool,
    identity,
    scope: scope ?? thisInput,
    givenAt,
    ...(consent.validForMs !== undefined && { expiresAt: givenAt + consent.validForMs }),
    until: ground.tick() + (consent.validForMs ?? Number.POSITIVE_INFINITY),
  })
}

/** The yeses for the session that hold now. */
export function listApprovals(session: Traveller, tick: number): SessionApproval[] {
  return [...session.grants.values()]
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
export function revokeApproval(call: string, by: string, { ground, session }: Road): boolean {
  for (const [key, given] of session.grants) {
    if (given.call !== call) continue
    session.grants.delete(key)
    ground.evidence.note(toNote(given, by, { ground, session }))
    return given.until > ground.tick()
  }
  return false
}

function toNote({ call, tool, scope }: SessionApproval, by: string, { ground, session }: Road): NoteRecord {
  const { tenant, actor } = session.principal
  return {
    kind: 'note',
    event: 'consent_revoked',
    tenant,
    session: session.id,
    call,
    at: ground.now(),
    actor: by,
    tool,
    message: `${by} took back the yes for the session to ${tool} (${scope}) for ${actor}`,
    data: { consent: call, scope, for: actor },
  }
}
