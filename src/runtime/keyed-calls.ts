import { setTimeout as sleep } from 'node:timers/promises'
import type { CallError } from '../contract/errors.ts'
import type { KeyHeld, KeyUse } from '../contract/store.ts'
import { callError } from '../kit/call-error.ts'
import { shortName } from '../kit/key-name.ts'
import { longestMs } from '../kit/longest-ms.ts'
import { abortedEarly } from './aborted-early.ts'
import type { Road } from './ground.ts'
import { isOfAnother, readKept } from './kept-call.ts'
import {
  again,
  isStopped,
  pass,
  stop,
  type Approved,
  type Authorised,
  type CallKey,
  type Stopped,
} from './passage.ts'
import { createRunWatch } from './run-watch.ts'
import type { RunningCall } from './running-calls.ts'
import { saidDigest } from './said-digest.ts'
import { findExceeded } from './steps/authorise.ts'
import { toCallError } from './to-call-error.ts'

type Keyed = Authorised & { readonly key: CallKey }
type Recalled = Authorised | Stopped

/**
 * What became of a call that was made before with the same key. A new call has the key among the calls of this process from here on;
 * one that ended is decided about anew, by what it reached then; for one that runs, this call waits, and then starts anew. A call that would
 * run itself needs room in the counts of its session. Comes before the plan: the first call may have changed the very thing that a plan would
 * look at.
 */
export function recall(
  authorised: Authorised,
  road: Road,
): Recalled | Promise<Recalled | Stopped | typeof again> {
  if (!isKeyed(authorised)) return withinCounts(authorised, road)
  const { running } = road.ground
  const use = toUse(authorised, road)
  const held = findHeld(authorised, use, road)
  if (held !== undefined && held.state !== 'running') return settle(authorised, held)
  const other = running.find(runningKey(use))
  if (other !== undefined && other.call !== use.call) return joinHere(authorised, other, road)
  if (held !== undefined) return joinElsewhere(authorised, use, road)
  const counted = withinCounts(authorised, road)
  if (other === undefined && !isStopped(counted)) running.start(runningKey(use), use.call)
  return counted
}

/** The same for a call that is not made: nothing is taken, and nothing waited for. */
export function recallForPreflight(authorised: Authorised, road: Road): Recalled {
  if (!isKeyed(authorised)) return withinCounts(authorised, road)
  const held = findHeld(authorised, toUse(authorised, road), road)
  if (held === undefined) return withinCounts(authorised, road)
  return held.state === 'running' ? authorised : settle(authorised, held)
}

/** The calls that a session may make are those that run: one that gets a kept result is none of them. */
function withinCounts(authorised: Authorised, road: Road): Recalled {
  const over = findExceeded(authorised, road)
  return over === undefined ? authorised : stop('authorise', authorised, over)
}

/** Takes the key for this call. `again` where another call has it by now. */
export function takeKey(approved: Approved, road: Road): Stopped | typeof again | undefined {
  if (!isKeyed(approved)) return undefined
  try {
    const { state } = road.ground.store.claimKey(toUse(approved, road))
    return state === 'claimed' ? undefined : again
  } catch (error) {
    return stop('admit', approved, toCallError(error, approved.registered.definition.name))
  }
}

function isKeyed(state: Authorised): state is Keyed {
  return state.key !== undefined
}

/** A store that fails says so in the same place. */
function findHeld(keyed: Keyed, use: KeyUse, { ground }: Road): KeyHeld | Failed | undefined {
  try {
    return ground.store.findKey(use)
  } catch (error) {
    return { state: 'failed', error: toCallError(error, keyed.registered.definition.name) }
  }
}

interface Failed {
  readonly state: 'failed'
  readonly error: CallError
}

function settle(keyed: Keyed, held: Exclude<KeyHeld, { state: 'running' }> | Failed): Recalled {
  switch (held.state) {
    case 'ended': {
      const kept = readKept(held)
      return isOfAnother(kept, keyed)
        ? stop('authorise', keyed, otherToolError(held.call, keyed))
        : pass<Authorised>(keyed, { kept })
    }
    case 'failed':
      return stop('authorise', keyed, held.error)
    default:
      return stop('authorise', keyed, heldError(held, keyed))
  }
}

/** A person who says no to a call says so to all that wait for it, if they come to ask the same. */
async function joinHere(keyed: Keyed, other: RunningCall, road: Road): Promise<Stopped | typeof again> {
  const ended = await waitFor(other.ended, keyed, road)
  if ('stopped' in ended) return ended
  keyed.refused = ended.value ?? keyed.refused
  return again
}

/** How often another process's call is asked about. */
const pollMs = 50

/** Asks until the call that has the key has ended, at most as long as such a call may run. */
async function joinElsewhere(keyed: Keyed, use: KeyUse, road: Road): Promise<Stopped | typeof again> {
  const { ground } = road
  const deadline = keyed.tick + keyed.profile.timeoutMs
  for (;;) {
    const waited = await waitFor(sleep(pollMs), keyed, road)
    if ('stopped' in waited) return waited
    const held = findHeld(keyed, { ...use, at: ground.now() }, road)
    if (held?.state !== 'running') return again
    if (ground.tick() > deadline) return stop('authorise', keyed, heldError(held, keyed))
  }
}

async function waitFor<Value>(
  ended: Promise<Value>,
  keyed: Keyed,
  { session }: Road,
): Promise<{ value: Value } | Stopped> {
  const watch = createRunWatch(keyed, session.endings)
  const first = watch.ended === undefined ? await watch.firstOf(ended, longestMs) : 'ended'
  if (first !== 'ended') return first
  const { name } = keyed.registered.definition
  const error = abortedEarly(name, watch.ended, 'while it waited for a call with the same key')
  return stop('authorise', keyed, error)
}

function toUse(keyed: Keyed, { ground, session }: Road): KeyUse {
  return {
    tenant: session.principal.tenant,
    tool: keyed.registered.definition.name,
    key: keyed.key.name,
    inputDigest: shortName(saidDigest(keyed, ground)),
    call: keyed.call.id,
    at: ground.now(),
    windowMs: ground.limits.idempotencyWindowMs,
  }
}

function runningKey({ tenant, tool, key }: KeyUse): string {
  return `${tenant} ${tool} ${key}`
}

function otherToolError(call: string, { registered }: Keyed): CallError {
  return callError('IDEMPOTENCY.CONFLICT', 'same_key_other_tool', {
    message: `The idempotency key of this call was used before for a tool of another source that was called "${registered.definition.name}" (call ${call}). Use a new key.`,
    data: { call },
  })
}

/** Evidence keeps what is told, so no key is told. */
function heldError(held: Exclude<KeyHeld, { state: 'ended' }>, { registered }: Keyed): CallError {
  const tool = registered.definition.name
  const data = { call: held.call }
  switch (held.state) {
    case 'conflict':
      return callError('IDEMPOTENCY.CONFLICT', 'same_key_other_input', {
        message: `The idempotency key of this call was used before for "${tool}" with another input (call ${held.call}). Use a new key.`,
        data,
      })
    case 'unknown':
      return callError('IDEMPOTENCY.OUTCOME_UNKNOWN', 'interrupted', {
        message: `The call ${held.call} with the same key was cut off, and its effect may or may not have happened. Check by hand, and say what you found with "handrail evidence resolve ${held.call}"; it is not run again.`,
        data,
      })
    case 'running':
      return callError('TOOL.TIMEOUT', 'still_running', {
        message: `The call ${held.call} with the same key is still running. Ask again later with the same key.`,
        data,
      })
  }
}
