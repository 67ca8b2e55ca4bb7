import type { BeginRecord } from '../../contract/evidence.ts'
import type { Operation, Plan } from '../../contract/base/plan.ts'
import type { Registered } from '../../contract/registry.ts'
import type { KeyHeld } from '../../contract/store.ts'
import { canonicalJson } from '../../kit/json/canonical-json.ts'
import { digest } from '../../kit/json/digest.ts'
import { splitBeginBody } from '../../kit/result/split-begin-body.ts'
import { sourceOf, toParents } from './begin-record.ts'
import type { CallScope, SessionState } from '../state/scope.ts'
import type { Authorised, KeptCall } from '../state/call-state.ts'
import { readRecord } from '../../kit/result/read-record.ts'

/** An earlier call as the store has it. What does not match its record says nothing of what was reached. */
export function readKept({ begin: { text, body }, result }: Extract<KeyHeld, { state: 'ended' }>): KeptCall {
  const begin = readRecord(text, 'begin')
  const kept = body === null ? undefined : splitBeginBody(body).operations
  const isWhole = begin.plan === (kept === undefined ? undefined : digest(kept))
  const operations = kept !== undefined && isWhole ? (JSON.parse(kept) as Operation[]) : []
  const plan: Plan = { operations, ...(begin.scope !== undefined && { scope: begin.scope }) }
  return { begin, plan, hidden: !isWhole || begin.said?.plan !== undefined, result }
}

/** Whether a person said yes to the earlier call of this very definition, for the same caller: then they need not be asked again. */
export function wasApproved({ begin }: KeptCall, { registered }: Authorised, session: SessionState): boolean {
  return begin.approval !== undefined && isOf(begin, registered) && isBy(begin, session)
}

/** Whether the earlier call was of a tool of another source that had the name then. */
export function isOfAnother({ begin }: KeptCall, { registered }: Authorised): boolean {
  return begin.source !== undefined && begin.source !== sourceOf(registered)
}

/** Whether the earlier call reached files or ran programs in another worktree, where the same input means something else. */
export function isInAnotherTree({ begin, hidden, plan }: KeptCall, { session }: CallScope): boolean {
  if (begin.worktree === session.worktree) return false
  return hidden || plan.operations.some(({ kind }) => kind !== 'net' && kind !== 'other')
}

/**
 * Whether all that decided about the earlier call is as it was: the caller, the policy, the definition. Then what is not known of its
 * operations would be decided as it was. What other decision points decided about them is not known here.
 */
export function isDecidedAlike(
  kept: KeptCall,
  { registered }: Authorised,
  { tenant, session }: CallScope,
): boolean {
  const { begin } = kept
  return (
    isBy(begin, session) &&
    (begin.mode ?? 'default') === session.mode &&
    begin.policy === tenant.policy.digest &&
    isOf(begin, registered) &&
    tenant.decisionPoints.every(({ id }) => id === 'grants')
  )
}

function isOf({ definition }: BeginRecord, now: Registered): boolean {
  return definition === `${now.definition.version} ${now.digest}`
}

/** Tenant and actor are those of the key. */
function isBy({ role, parents }: BeginRecord, session: SessionState): boolean {
  return role === session.principal.role && canonicalJson(parents ?? []) === canonicalJson(toParents(session))
}
