import { expect, test } from 'vitest'
import { withinMs } from './within-ms.ts'

const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length

test('says whether work came to an end in time, and leaves nothing that keeps a process alive', async () => {
  const before = timers()
  expect(await withinMs(Promise.resolve('done'), 60_000)).toBe(true)
  expect(timers()).toBe(before)
  expect(await withinMs(new Promise(() => {}), 1)).toBe(false)
  await expect(withinMs(Promise.reject(new Error('it failed')), 60_000)).rejects.toThrow('it failed')
  expect(timers()).toBe(before)
})
