import type { BeginRecord } from '../../contract/evidence.ts'
import type { Operation, Plan } from '../../contract/base/plan.ts'
import type { Registered } from '../../contract/registry.ts'
import type { KeyHeld } from '../../contract/store.ts'
import { canonicalJson } from '../../kit/json/canonical-json.ts'
import { digest } from '../../kit/json/digest.ts'
import { splitBeginBody } from '../../kit/result/split-begin-body.ts'
import { sourceOf, toParents } from './begin-record.ts'
import type { Road, Traveller } from '../state/ground.ts'
import type { Authorised, KeptCall } from '../state/passage.ts'

/** An earlier call as the store has it. What does not match its record says nothing of what was reached. */
export function readKept({ begin: { text, body }, result }: Extract<KeyHeld, { state: 'ended' }>): KeptCall {
  // A store returns the text that was made from a begin.
  const begin = JSON.parse(text) as BeginRecord
  const kept = body === null ? undefined : splitBeginBody(body).operations
  const isWhole = begin.plan === (kept === undefined ? undefined : digest(kept))
  const operations = kept !== undefined && isWhole ? (JSON.parse(kept) as Operation[]) : []
  const plan: Plan = { operations, ...(begin.scope !== undefined && { scope: begin.scope }) }
  return { begin, plan, hidden: !isWhole || begin.said?.plan !== undefined, result }
}

/** Whether a person said yes to the earlier call of this very definition, for the same caller: then they need not be asked again. */
export function wasApproved({ begin }: KeptCall, { registered }: Authorised, session: Traveller): boolean {
  return begin.approval !== undefined && isOf(begin, registered) && isBy(begin, session)
}

/** Whether the earlier call was of a tool of another source that had the name then. */
export function isOfAnother({ begin }: KeptCall, { registered }: Authorised): boolean {
  return begin.source !== undefined && begin.source !== sourceOf(registered)
}

/**
 * Whether all that decided about the earlier call is as it was: the caller, the policy, the definition. Then what is not known of its
 * operations would be decided as it was. What other decision points decided about them is not known here.
 */
export function isDecidedAlike(
  kept: KeptCall,
  { registered }: Authorised,
  { ground, session }: Road,
): boolean {
  const { begin } = kept
  return (
    isBy(begin, session) &&
    (begin.mode ?? 'default') === session.mode &&
    begin.policy === ground.policy.digest &&
    isOf(begin, registered) &&
    ground.decisionPoints.every(({ id }) => id === 'grants')
  )
}

function isOf({ definition }: BeginRecord, now: Registered): boolean {
  return definition === `${now.definition.version} ${now.digest}`
}

/** Tenant and actor are those of the key. */
function isBy({ role, parents }: BeginRecord, session: Traveller): boolean {
  return role === session.principal.role && canonicalJson(parents ?? []) === canonicalJson(toParents(session))
}
