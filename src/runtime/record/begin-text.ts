import type { BeginRecord } from '../../contract/evidence.ts'
import type { Registered } from '../../contract/registry.ts'
import { membersText } from '../../kit/json/members-text.ts'
import type { SessionState } from '../state/scope.ts'

/** What the begins of a session for one tool say alike, for as long as its calls are decided alike, as text. */
interface Alike {
  readonly like: BeginRecord
  /** Up to the id of the call, from there to its time, and behind its input. */
  readonly head: string
  readonly middle: string
  readonly tail: string
}

const known = new WeakMap<SessionState, WeakMap<Registered, Alike>>()

/**
 * The same text that `JSON.stringify` has for a begin of this tool, whose fields are in the order of `toBegin`. `rest` are those that few calls have, and
 * stand at its end.
 */
export function toBeginText(
  begin: BeginRecord,
  rest: Partial<BeginRecord>,
  { registered, session }: { registered: Registered; session: SessionState },
): string {
  const { head, middle, tail } = findAlike(begin, registered, session)
  return `${head}${begin.call}${middle}${begin.at},"input":"${begin.input}${tail}${membersText(rest)}}`
}

function findAlike(begin: BeginRecord, registered: Registered, session: SessionState): Alike {
  let ofSession = known.get(session)
  if (ofSession === undefined) known.set(session, (ofSession = new WeakMap()))
  let alike = ofSession.get(registered)
  if (alike === undefined || !isAlike(begin, alike.like)) ofSession.set(registered, (alike = toAlike(begin)))
  return alike
}

/** All else is the same for one session and tool. */
function isAlike(begin: BeginRecord, other: BeginRecord): boolean {
  return (
    begin.policy === other.policy &&
    begin.origin === other.origin &&
    begin.mode === other.mode &&
    begin.profile === other.profile &&
    begin.decision?.rule === other.decision?.rule &&
    begin.decision?.layer === other.decision?.layer &&
    begin.decision?.effect === other.decision?.effect
  )
}

function toAlike(begin: BeginRecord): Alike {
  const { kind, tenant, session, actor, role, origin, tool, definition, policy, writer } = begin
  const { mode, standingConsents, worktree, profile, decision } = begin
  const last = { policy, writer, mode, standingConsents, worktree, profile, decision }
  return {
    like: begin,
    head: `{${membersText({ kind, tenant, session }).slice(1)},"call":"`,
    middle: `"${membersText({ actor, role, origin, tool, definition })},"at":`,
    tail: `"${membersText(last)}`,
  }
}
