import type { ToolResult } from '../../contract/base/result.ts'
import type { SideEffect } from '../../contract/tool/tool.ts'
import { digest } from '../../kit/json/digest.ts'
import { isPlainObject } from '../../kit/json/is-plain-object.ts'
import type { CallScope } from '../state/scope.ts'
import type { CheckedInput, Halted } from '../state/call-state.ts'
import { inputIdentity } from '../state/said-digest.ts'

/** How often this session made this very call before, to no other end. */
export function countRepeats(checked: CheckedInput, { tenant, session: { counts } }: CallScope): number {
  const repeats = counts.repeats.get(checked.registered.definition)
  const repeat = repeats?.get(inputIdentity(checked, tenant))
  return repeat === undefined || repeat.changes !== counts.family.changes ? 0 : repeat.count
}

/** After so many different inputs of one tool, a session forgets them all and counts anew. */
const rememberedInputs = 1_000

/** Counts a call that is about to run. */
export function countRepeat(checked: CheckedInput, { tenant, session: { counts } }: CallScope): void {
  const { definition } = checked.registered
  const { changes } = counts.family
  let repeats = counts.repeats.get(definition)
  if (repeats === undefined) counts.repeats.set(definition, (repeats = new Map()))
  const input = inputIdentity(checked, tenant)
  let repeat = repeats.get(input)
  if (repeat === undefined) {
    if (repeats.size >= rememberedInputs) repeats.clear()
    repeats.set(input, (repeat = { count: 0, result: undefined, changes }))
  }
  repeat.count = repeat.changes === changes ? repeat.count + 1 : 1
  repeat.changes = changes
  checked.repeat = repeat
}

/**
 * Looks at what a counted call returned, whose result has this digest. Another result than the last one, and a look at a job that runs, are
 * not repeats; and what a tool that changes things returned for the first time may be a change for every other call.
 */
export function settleRepeat(
  state: Halted['state'],
  about: { result: ToolResult; digest: string },
  scope: CallScope,
): void {
  const { repeat, registered } = state
  if (repeat === undefined || registered === undefined) return
  const { counts, jobs } = scope.session
  const { sideEffect, needs } = registered.definition
  const name = resultName(about.result, about.digest)
  const isNew = repeat.result !== name
  repeat.result = name
  if (isNew) repeat.count = 1
  if (!changesThings(sideEffect)) {
    if (needs.includes('jobs') && jobs.anyRuns()) repeat.count = 0
  } else if (isNew) repeat.changes = ++counts.family.changes
}

function changesThings(sideEffect: SideEffect): boolean {
  return sideEffect !== 'none' && sideEffect !== 'read'
}

/** Names what a call returned, whose result has this digest: how long a command took is another time each time. */
export function resultName({ data, error }: Pick<ToolResult, 'data' | 'error'>, whole: string): string {
  if (!isPlainObject(data) || !('duration_ms' in data)) return whole
  return digest(JSON.stringify([{ ...data, duration_ms: 0 }, error?.code ?? null]))
}
