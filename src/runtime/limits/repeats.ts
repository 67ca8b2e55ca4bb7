import type { ToolResult } from '../../contract/base/result.ts'
import type { SideEffect } from '../../contract/tool/tool.ts'
import { digest } from '../../kit/json/digest.ts'
import { isPlainObject } from '../../kit/json/is-plain-object.ts'
import type { CallScope } from '../state/scope.ts'
import type { CheckedInput, Halted } from '../state/call-state.ts'
import { inputIdentity } from '../state/said-digest.ts'

/** How many times in a row this session made this very call before, and got the same. */
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
 * Looks at the result of a counted call. The call is not a repeat if its result differs from the last one, or if it looked at a job that runs. After a
 * new result of a tool that changes things, every other call may return something else.
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

/** Names a result for the count of repeats, by a digest that leaves out how long a command took. */
export function resultName({ data, error }: Pick<ToolResult, 'data' | 'error'>, whole: string): string {
  if (!isPlainObject(data) || !('duration_ms' in data)) return whole
  return digest(JSON.stringify([{ ...data, duration_ms: 0 }, error?.code ?? null]))
}
