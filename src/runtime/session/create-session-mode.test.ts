import { expect, test } from 'vitest'
import type { EnteredPlan, KeptPart } from '../state/session-book.ts'
import { createPart } from './create-part.ts'
import { createSessionMode } from './create-session-mode.ts'

/** A part whose store takes nothing. */
function brokenPart(value?: EnteredPlan): KeptPart<EnteredPlan> {
  return { read: () => value, write: () => Promise.reject(new Error('The disk is full.')) }
}

test('plan mode that the store does not take counts all the same in this process, and is left by it (BI-4)', async () => {
  const mode = createSessionMode({ opened: 'accept-edits', plan: brokenPart(), above: undefined })
  await expect(mode.enter()).rejects.toThrow('disk')
  expect([mode.current(), mode.planning(), mode.beneath()]).toEqual(['plan', 'entered', 'accept-edits'])
})

test('plan mode goes on if the store does not forget it (BI-4)', async () => {
  const plan = brokenPart({ before: 'default' })
  const mode = createSessionMode({ opened: 'default', plan, above: undefined })
  await expect(mode.leave()).rejects.toThrow('disk')
  expect(mode.current()).toBe('plan')
})

test('what another process left counts here, and what it entered (BI-4)', async () => {
  const plan = createPart<EnteredPlan>()
  const [one, other] = [1, 2].map(() => createSessionMode({ opened: 'bypass', plan, above: undefined }))
  await one?.enter()
  expect([one?.current(), other?.current()]).toEqual(['plan', 'plan'])
  await other?.leave()
  expect([one?.current(), other?.current()]).toEqual(['bypass', 'bypass'])
})

test('the mode beneath is never wider than the one that plan mode was entered from (BI-4)', async () => {
  const plan = createPart<EnteredPlan>()
  await createSessionMode({ opened: 'default', plan, above: undefined }).enter()
  const wide = createSessionMode({ opened: 'bypass', plan, above: undefined })
  expect(wide.beneath()).toBe('default')
  await wide.leave()
  expect(wide.current()).toBe('default')
})

test('a child is in plan mode while the session above is, though it entered its own (BI-4)', async () => {
  const above = createSessionMode({ opened: 'default', plan: createPart(), above: undefined })
  const child = createSessionMode({ opened: 'default', plan: createPart(), above })
  await child.enter()
  await above.enter()
  expect(child.planning()).toBe('above')
  await above.leave()
  expect(child.planning()).toBe('entered')
  await child.leave()
  expect(child.current()).toBe('default')
})
