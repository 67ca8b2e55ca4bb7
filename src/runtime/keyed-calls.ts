import { setTimeout as sleep } from 'node:timers/promises'
import type { CallError } from '../contract/errors.ts'
import type { KeyHeld, KeyUse } from '../contract/store.ts'
import { callError } from '../kit/call-error.ts'
import { unfoldResult } from '../kit/fold-result.ts'
import type { Road } from './ground.ts'
import {
  stop,
  type Approved,
  type Authorised,
  type CheckedInput,
  type Replayed,
  type StepName,
  type Stopped,
} from './passage.ts'
import { toCallError } from './to-call-error.ts'
import { treatKept } from './treat-kept.ts'

/** The idempotency key of a call: its own, or the input field that its tool names. */
export function keyOf({ call, registered, input }: CheckedInput): string | undefined {
  const { keyFrom, idempotency } = registered.definition
  if (call.idempotencyKey !== undefined) return call.idempotencyKey
  if (idempotency === 'none' || keyFrom === undefined || keyFrom === 'call') return undefined
  const value = input[keyFrom.slice(1)]
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined
}

/**
 * What became of a call that was made before with the same key; undefined for a new one, which has the key among the calls of this
 * process from here on. Comes before the plan: the first call may have changed the very thing that a plan would look at, and
 * nobody is asked twice for one key.
 */
export function recall(
  authorised: Authorised,
  road: Road,
): undefined | Promise<Replayed | Stopped | undefined> {
  const key = keyOf(authorised)
  if (key === undefined) return undefined
  const { store, running } = road.ground
  const ask = (use: KeyUse): KeyHeld | undefined => {
    const held = store.findKey(use)
    const other = running.find(runningKey(use))
    if (held !== undefined || other !== undefined)
      return held ?? { state: 'running', call: other?.call ?? '' }
    running.start(runningKey(use), use.call)
    return undefined
  }
  return waitFor(authorised, { key, road, at: 'authorise', ask })
}

/** Takes the key for this call. Undefined when it has it; otherwise how the call ends without running. */
export async function takeKey(approved: Approved, road: Road): Promise<Replayed | Stopped | undefined> {
  const key = keyOf(approved)
  if (key === undefined) return undefined
  const ask = (use: KeyUse): KeyHeld | undefined => {
    const claim = road.ground.store.claimKey(use)
    return claim.state === 'claimed' ? undefined : claim
  }
  return waitFor(approved, { key, road, at: 'admit', ask })
}

/**
 * The key of a call that ended before it took it, where its outcome is kept: somebody or some rule said no. What only could not be
 * decided or has no room right now may be tried again.
 */
export function keptKey(state: Stopped['state'], error: CallError, road: Road): KeyUse | undefined {
  if (state.registered === undefined || state.inputDigest === undefined) return undefined
  if (!/^(POLICY|AUTH|SANDBOX)\./.test(error.code) || error.next === 'wait' || undecided.has(error.reason))
    return undefined
  // What has an input digest has passed step 2.
  const checked = state as CheckedInput
  const key = keyOf(checked)
  return key === undefined ? undefined : toUse(checked, key, road)
}

const undecided: ReadonlySet<string> = new Set([
  'no_callback',
  'callback_failed',
  'callback_timeout',
  'approval_stale',
  'hook_failed',
  'decision_point_failed',
])

/** How often another process's call is asked about. */
const pollMs = 50

interface Wait {
  key: string
  road: Road
  at: StepName
  ask: (use: KeyUse) => KeyHeld | undefined
}

/** Asks until the call that has the key has ended, at most as long as such a call may run. */
async function waitFor(
  state: Authorised,
  { key, road, at, ask }: Wait,
): Promise<Replayed | Stopped | undefined> {
  const { ground } = road
  const { name } = state.registered.definition
  const deadline = ground.now() + state.profile.timeoutMs
  for (;;) {
    const use = toUse(state, key, road)
    let held: KeyHeld | undefined
    try {
      held = ask(use)
    } catch (error) {
      return stop(at, state, toCallError(error, name))
    }
    if (held === undefined) return undefined
    if (held.state === 'ended') return treatKept(unfoldResult(held.result, toAbout(state)), state, road)
    if (held.state !== 'running' || ground.now() > deadline)
      return stop(at, state, heldError(held, { key, tool: name }))
    const other = ground.running.find(runningKey(use))
    await (other === undefined || other.call === use.call ? sleep(pollMs) : other.ended)
  }
}

/** A kept result goes back under the ids of the call that asks for it. */
function toAbout({ call, registered }: Authorised): Parameters<typeof unfoldResult>[1] {
  const { id: callId, toolCallId, session } = call
  return { callId, toolCallId, tool: registered.definition.name, session, durationMs: 0 }
}

function toUse(state: CheckedInput, key: string, { ground, session }: Road): KeyUse {
  return {
    tenant: session.principal.tenant,
    tool: state.registered.definition.name,
    key,
    inputDigest: state.inputDigest,
    call: state.call.id,
    at: ground.now(),
    windowMs: ground.limits.idempotencyWindowMs,
  }
}

function runningKey({ tenant, tool, key }: KeyUse): string {
  return `${tenant} ${tool} ${key}`
}

function heldError(
  held: Exclude<KeyHeld, { state: 'ended' }>,
  about: { key: string; tool: string },
): CallError {
  const { key, tool } = about
  const data = { call: held.call }
  switch (held.state) {
    case 'conflict':
      return callError('IDEMPOTENCY.CONFLICT', 'same_key_other_input', {
        message: `The key "${key}" was used before for "${tool}" with another input (call ${held.call}). Use a new key.`,
        data,
      })
    case 'unknown':
      return callError('IDEMPOTENCY.OUTCOME_UNKNOWN', 'interrupted', {
        message: `The call ${held.call} with the key "${key}" was cut off, and its effect may or may not have happened. Check by hand, and say what you found with "handrail evidence resolve ${held.call}"; it is not run again.`,
        data,
      })
    case 'running':
      return callError('TOOL.TIMEOUT', 'still_running', {
        message: `The call ${held.call} with the same key is still running. Ask again later with the same key.`,
        data,
      })
  }
}
