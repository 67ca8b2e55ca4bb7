import type { BeginRecord } from '../../contract/evidence.ts'
import type { Runtime, Session } from '../../contract/runtime.ts'

/** What is known of a session that was, or could be. What is absent is as a session has it by default. */
export type SessionLike = Partial<
  Pick<BeginRecord, 'tenant' | 'actor' | 'role' | 'mode' | 'parents' | 'standingConsents'>
>

/** What a call says of its session. */
export function toSessionLike(begin: BeginRecord): SessionLike {
  const { tenant, actor, role, mode = 'default', parents, standingConsents } = begin
  return {
    tenant,
    actor,
    role,
    mode,
    ...(parents !== undefined && { parents }),
    ...(standingConsents !== undefined && { standingConsents }),
  }
}

/** A session like that one, below ones like those that it is below. Throws a SetupError where none can be opened. */
export function openSessionLike(runtime: Runtime, like: SessionLike): Session {
  const { tenant, actor, parents = [] } = like
  const open = ({ role, mode, standingConsents }: SessionLike, parent: Session | undefined): Session =>
    runtime.session({
      ...(parent !== undefined && { parent }),
      ...(parent === undefined && tenant !== undefined && { tenant }),
      ...(parent === undefined && actor !== undefined && { actor }),
      ...(role !== undefined && { role }),
      ...(mode !== undefined && { mode }),
      ...(standingConsents !== undefined && { standingConsents }),
    })
  const above = parents.reduceRight<Session | undefined>(
    (parent, { role, mode = 'default' }) => open({ role, mode }, parent),
    undefined,
  )
  return open(like, above)
}
