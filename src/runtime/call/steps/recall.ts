import { setTimeout as sleep } from 'node:timers/promises'
import type { CallError } from '../../../contract/base/errors.ts'
import type { KeyHeld, KeyUse } from '../../../contract/store.ts'
import { callError } from '../../../kit/result/call-error.ts'
import { longestMs } from '../../../kit/time/longest-ms.ts'
import { abortedEarly } from '../../limits/aborted-error.ts'
import type { CallScope } from '../../state/scope.ts'
import { isInAnotherTree, isOfAnother, readKept } from '../../record/kept-call.ts'
import {
  findHeld,
  heldError,
  isKeyed,
  runningKey,
  toUse,
  type Failed,
  type Keyed,
} from '../../record/keyed-calls.ts'
import { advance } from '../../state/advance.ts'
import { again, isHalted, halt, type Authorised, type Recalled, type Halted } from '../../state/call-state.ts'
import { createRunWatch } from '../../limits/run-watch.ts'
import type { RunningCall } from '../../state/running-calls.ts'
import { findExceeded } from './authorise.ts'

/**
 * What became of a call that was made before with the same key. A new call has the key among the calls of this process from here on;
 * one that ended is decided about anew, by what it reached then; for one that runs, this call waits, and then starts anew. A call that would
 * run itself needs room in the counts of its session. Comes before the plan: the first call may have changed the very thing that a plan would
 * look at.
 */
export function recall(
  authorised: Authorised,
  scope: CallScope,
): Recalled | Halted | Promise<Halted | typeof again> {
  if (!isKeyed(authorised)) return withinCounts(authorised, scope)
  const { running } = scope.tenant
  const use = toUse(authorised, scope)
  const held = findHeld(authorised, use, scope)
  if (held !== undefined && held.state !== 'running') return settle(authorised, held, scope)
  const other = running.find(runningKey(use))
  if (other !== undefined && other.call !== use.call) return joinHere(authorised, other, scope)
  if (held !== undefined) return joinElsewhere(authorised, use, scope)
  const counted = withinCounts(authorised, scope)
  if (other === undefined && !isHalted(counted)) running.start(runningKey(use), use.call)
  return counted
}

/** The same for a call that is not made: nothing is taken, and nothing waited for. */
export function recallForPreflight(authorised: Authorised, scope: CallScope): Recalled | Halted {
  if (!isKeyed(authorised)) return withinCounts(authorised, scope)
  const held = findHeld(authorised, toUse(authorised, scope), scope)
  if (held === undefined) return withinCounts(authorised, scope)
  return held.state === 'running'
    ? advance.recall(authorised, { kept: undefined })
    : settle(authorised, held, scope)
}

/** The calls that a session may make are those that run: one that gets a kept result is none of them. */
function withinCounts(authorised: Authorised, scope: CallScope): Recalled | Halted {
  const over = findExceeded(authorised, scope)
  return over === undefined
    ? advance.recall(authorised, { kept: undefined })
    : halt('authorise', authorised, over)
}

function settle(
  keyed: Keyed,
  held: Exclude<KeyHeld, { state: 'running' }> | Failed,
  scope: CallScope,
): Recalled | Halted {
  switch (held.state) {
    case 'ended': {
      const kept = readKept(held)
      if (isInAnotherTree(kept, scope)) return halt('authorise', keyed, otherTreeError(held.call))
      return isOfAnother(kept, keyed)
        ? halt('authorise', keyed, otherToolError(held.call, keyed))
        : advance.recall(keyed, { kept })
    }
    case 'failed':
      return halt('authorise', keyed, held.error)
    default:
      return halt('authorise', keyed, heldError(held, keyed))
  }
}

/** A person who says no to a call says so to all that wait for it, if they come to ask the same. */
async function joinHere(keyed: Keyed, other: RunningCall, scope: CallScope): Promise<Halted | typeof again> {
  const ended = await waitFor(other.ended, keyed, scope)
  if ('halted' in ended) return ended
  keyed.refused = ended.value ?? keyed.refused
  return again
}

/** How often another process's call is asked about. */
const pollMs = 50

/** Asks until the call that has the key has ended, at most as long as such a call may run. */
async function joinElsewhere(keyed: Keyed, use: KeyUse, scope: CallScope): Promise<Halted | typeof again> {
  const { tenant } = scope
  const deadline = keyed.tick + keyed.profile.timeoutMs
  for (;;) {
    const waited = await waitFor(sleep(pollMs), keyed, scope)
    if ('halted' in waited) return waited
    const held = findHeld(keyed, { ...use, at: tenant.now() }, scope)
    if (held?.state !== 'running') return again
    if (tenant.tick() > deadline) return halt('authorise', keyed, heldError(held, keyed))
  }
}

async function waitFor<Value>(
  ended: Promise<Value>,
  keyed: Keyed,
  { session }: CallScope,
): Promise<{ value: Value } | Halted> {
  const watch = createRunWatch(keyed, session.endings)
  const first = watch.ended === undefined ? await watch.firstOf(ended, longestMs) : 'ended'
  if (first !== 'ended') return first
  const { name } = keyed.registered.definition
  const error = abortedEarly(name, watch.ended, 'while it waited for a call with the same key')
  return halt('authorise', keyed, error)
}

function otherToolError(call: string, { registered }: Keyed): CallError {
  return callError('IDEMPOTENCY.CONFLICT', 'same_key_other_tool', {
    message: `The idempotency key of this call was used before for a tool of another source that was called "${registered.definition.name}" (call ${call}). Use a new key.`,
    data: { call },
  })
}

function otherTreeError(call: string): CallError {
  return callError('IDEMPOTENCY.CONFLICT', 'same_key_other_input', {
    message: `The idempotency key of this call was used before by a call in another worktree (${call}), whose files are others. Use a new key.`,
    data: { call },
  })
}
