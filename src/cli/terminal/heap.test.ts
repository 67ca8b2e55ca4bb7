import { setImmediate } from 'node:timers/promises'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { collectGarbage } from './heap.ts'

test('what nothing holds is collected, and contexts that are made later cannot ask for that', async () => {
  const left = new WeakRef({})
  // Until then the event itself holds it.
  await setImmediate()
  collectGarbage()
  expect(left.deref()).toBeUndefined()
  expect(runInNewContext('typeof gc')).toBe('undefined')
})
