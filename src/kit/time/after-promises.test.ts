import { expect, test } from 'vitest'
import { afterPromises } from './after-promises.ts'

test('comes after the promises of an event, however many follow one another, and before the next event', async () => {
  const said: string[] = []
  const say = async (): Promise<void> => {
    afterPromises(() => said.push('after'))
    for (let hop = 0; hop < 5; hop++) await Promise.resolve()
    said.push('promises')
  }
  setImmediate(() => void say())
  await new Promise((resolve) => setImmediate(resolve))
  said.push('next event')
  expect(said).toEqual(['promises', 'after', 'next event'])
})
