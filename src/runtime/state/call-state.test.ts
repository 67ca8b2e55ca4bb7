import { expectTypeOf, test } from 'vitest'
import type { Registered } from '../../contract/registry.ts'
import { advance } from './advance.ts'
import { restart, type Called, type Found, type Planned } from './call-state.ts'
import { checkInput } from '../call/steps/check-input.ts'
import { run } from '../call/steps/run.ts'
import type { CallScope } from './scope.ts'

declare const called: Called
declare const found: Found
declare const planned: Planned
declare const registered: Registered
declare const scope: CallScope

/** These are compiled and never run: `npm run check` fails if one of the lines below a directive compiles. */
export function cannotBeWritten(): void {
  // @ts-expect-error a step is skipped
  checkInput(called, scope)
  // @ts-expect-error several steps are skipped
  void run(planned, scope)
  // @ts-expect-error a mark is made for a step that the call has not come to
  advance.hook(called, { hookNotes: [] })
  // @ts-expect-error a field of the step is missing
  advance.find(called, { registered })
  // @ts-expect-error a field has another type
  advance.find(called, { registered: undefined, asked: {} })
  // @ts-expect-error a call with every field and no mark is none that passed the step
  const forged: Found = { ...called, registered, asked: {} }
  // @ts-expect-error a call that starts anew has passed nothing
  checkInput(restart(found), scope)
  void forged
}

test('a call carries what the steps that it passed added, and their marks', () => {
  expectTypeOf(advance.find).returns.toEqualTypeOf<Found>()
  expectTypeOf<Planned>().toExtend<Found>()
  expectTypeOf<Found>().not.toExtend<Planned>()
})
