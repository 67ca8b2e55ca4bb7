import type { CallError } from '../../contract/base/errors.ts'
import type { KeyHeld, KeyUse } from '../../contract/store.ts'
import { callError } from '../../kit/result/call-error.ts'
import { shortName } from '../../kit/key-name.ts'
import type { CallScope } from '../state/scope.ts'
import {
  again,
  halt,
  type Approved,
  type Authorised,
  type CallKey,
  type Halted,
} from '../state/call-state.ts'
import { saidDigest } from '../state/said-digest.ts'
import { toCallError } from '../state/to-call-error.ts'

/** A call with an idempotency key. */
export type Keyed = Authorised & { readonly key: CallKey }

/** Takes the key for this call. Returns `again` if another call has it by now. */
export function takeKey(approved: Approved, scope: CallScope): Halted | typeof again | undefined {
  if (!isKeyed(approved)) return undefined
  try {
    const { state } = scope.tenant.store.claimKey(toUse(approved, scope))
    return state === 'claimed' ? undefined : again
  } catch (error) {
    return halt('admit', approved, toCallError(error, approved.registered.definition.name))
  }
}

export function isKeyed(state: Authorised): state is Keyed {
  return state.key !== undefined
}

/** A store that fails says so in the same place. */
export function findHeld(keyed: Keyed, use: KeyUse, { tenant }: CallScope): KeyHeld | Failed | undefined {
  try {
    return tenant.store.findKey(use)
  } catch (error) {
    return { state: 'failed', error: toCallError(error, keyed.registered.definition.name) }
  }
}

export interface Failed {
  readonly state: 'failed'
  readonly error: CallError
}

export function toUse(keyed: Keyed, { tenant, session }: CallScope): KeyUse {
  return {
    tenant: session.principal.tenant,
    tool: keyed.registered.definition.name,
    key: keyed.key.name,
    inputDigest: shortName(saidDigest(keyed, tenant)),
    call: keyed.call.id,
    at: tenant.now(),
    windowMs: tenant.limits.idempotencyWindowMs,
  }
}

export function runningKey({ tenant, tool, key }: KeyUse): string {
  return `${tenant} ${tool} ${key}`
}

/** Evidence keeps what is told, so no key is told. */
export function heldError(held: Exclude<KeyHeld, { state: 'ended' }>, { registered }: Keyed): CallError {
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
