import type { ToolResult } from '../../contract/base/result.ts'
import { andThen } from '../../kit/time/and-then.ts'
import type { CallScope } from '../state/scope.ts'
import {
  again,
  isHalted,
  restart,
  type Authorised,
  type Called,
  type Hooked,
  type Recalled,
  type Halted,
} from '../state/call-state.ts'
import { admit } from './steps/admit.ts'
import { approve } from './steps/approve.ts'
import { authorise } from './steps/authorise.ts'
import { checkInput } from './steps/check-input.ts'
import { checkOutput } from './steps/check-output.ts'
import { find } from './steps/find.ts'
import { askHooks } from './steps/hook.ts'
import { plan } from './steps/plan.ts'
import { recall } from './steps/recall.ts'
import { record, tellParked } from './steps/record.ts'
import { run } from './steps/run.ts'

/**
 * The pipeline of a call, from top to bottom. Each step takes a call that passed the step before, and returns one that got
 * further or one that ends; every end is recorded. Nothing else in Handrail runs a tool.
 *
 * A step that has nothing to wait for returns no promise, and is not awaited: most calls wait for their tool alone.
 */
export async function runCall(called: Called, scope: CallScope): Promise<ToolResult> {
  let prepared = prepare<typeof again>(called, scope, { recall })
  if (prepared instanceof Promise) prepared = await prepared
  if (prepared === again) return runAgain(called, scope)
  if (isHalted(prepared)) return record(prepared, scope)

  let approved = approve(prepared, scope)
  if (approved instanceof Promise) approved = await approved
  if (isHalted(approved)) return record(approved, scope)
  if ('parked' in approved) return tellParked(approved, scope)

  let admitted = admit(approved, scope)
  if (admitted instanceof Promise) admitted = await admitted
  if (admitted === again) return runAgain(called, scope)
  if (isHalted(admitted) || 'replayed' in admitted) return record(admitted, scope)

  let ran = run(admitted, scope)
  if (ran instanceof Promise) ran = await ran
  if (isHalted(ran)) return record(ran, scope)

  let checked = checkOutput(ran, scope)
  if (checked instanceof Promise) checked = await checked
  const recorded = record(checked, scope)
  return recorded instanceof Promise ? await recorded : recorded
}

/** How a preflight differs from a call: it takes no key and waits for no call, and hooks are told. */
export interface Preparing<Waits> {
  readonly recall: (
    authorised: Authorised,
    scope: CallScope,
  ) => Recalled | Halted | Waits | Promise<Recalled | Halted | Waits>
  readonly isPreflight?: boolean
}

/** The first half of the pipeline, which a preflight runs too: all that happens before a person is asked. It has no effect. */
export function prepare<Waits extends typeof again>(
  called: Called,
  scope: CallScope,
  { recall, isPreflight = false }: Preparing<Waits>,
): Prepared<Waits> | Promise<Prepared<Waits>> {
  const found = find(called, scope)
  if (isHalted(found)) return found

  const checked = checkInput(found, scope)
  if (isHalted(checked)) return checked

  return andThen(authorise(checked, scope), (authorised) => {
    if (isHalted(authorised)) return authorised

    return andThen(recall(authorised, scope), (recalled) => {
      if (typeof recalled === 'symbol' || isHalted(recalled)) return recalled

      return andThen(plan(recalled, scope), (planned) =>
        isHalted(planned) ? planned : askHooks(planned, scope, isPreflight),
      )
    })
  })
}

type Prepared<Waits> = Hooked | Halted | Waits

/** What waited for another call is judged by what is in force when it goes on. */
function runAgain(called: Called, { tenant, session }: CallScope): Promise<ToolResult> {
  return runCall(restart(called), { tenant: tenant.latest(), session })
}
