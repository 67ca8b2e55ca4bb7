import { expect, test } from 'vitest'
import { newId } from './new-id.ts'

test('an id has its form whatever the clock says', () => {
  for (const now of [-1, -86_400_000, 0, Date.now()])
    expect(newId('call', now)).toMatch(/^call_[0-9a-z]{19}$/)
  expect(newId('call', -1).slice(0, 14)).toBe(newId('call', 0).slice(0, 14))
})
