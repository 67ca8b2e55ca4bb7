import type { CallError } from '../contract/errors.ts'
import type { Ancestor, Principal } from '../contract/principal.ts'
import { canonicalJson } from '../kit/canonical-json.ts'

/** Keyed calls of this process that are on the road and not ended, so that duplicates wait for them. */
export interface RunningCalls {
  /** A call has one key at a time: with another one, those that wait for it go on. */
  start(key: string, call: { readonly call: string; readonly inputDigest: string }): void
  /** The call that is on the road with this key. */
  find(key: string): RunningCall | undefined
  /** Says that a call has ended and is recorded, and that a person said no to it, where one did. Of a call that is none of them, nothing. */
  end(call: string, refused: Refused | undefined): void
}

/** One of them. */
export interface RunningCall {
  readonly call: string
  readonly inputDigest: string
  /** When it has ended and is recorded, with the no of a person, where that ended it. */
  readonly ended: Promise<Refused | undefined>
}

/** What a person said no to. */
export interface Refused {
  readonly error: CallError
  readonly caller: Caller
}

/** Whom a person sees ask. */
export interface Caller {
  readonly principal: Principal
  readonly ancestors: readonly Ancestor[] | undefined
}

/** Whether a person who looks at these two sees the same one ask. */
export function isSameCaller(left: Caller, right: Caller): boolean {
  return describe(left) === describe(right)
}

function describe({ principal, ancestors = [] }: Caller): string {
  return canonicalJson([principal, ancestors.map(({ session, principal: { role } }) => [session, role])])
}

/** No calls yet. */
export function createRunningCalls(): RunningCalls {
  const byKey = new Map<string, RunningCall>()
  const byCall = new Map<string, { key: string; resolve: (refused: Refused | undefined) => void }>()
  const end: RunningCalls['end'] = (call, refused) => {
    const running = byCall.get(call)
    if (running === undefined) return
    byCall.delete(call)
    if (byKey.get(running.key)?.call === call) byKey.delete(running.key)
    running.resolve(refused)
  }
  return {
    start(key, { call, inputDigest }) {
      end(call, undefined)
      const { promise, resolve } = Promise.withResolvers<Refused | undefined>()
      byKey.set(key, { call, inputDigest, ended: promise })
      byCall.set(call, { key, resolve })
    },
    find: (key) => byKey.get(key),
    end,
  }
}
