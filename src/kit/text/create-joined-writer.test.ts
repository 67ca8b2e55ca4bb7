import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createJoinedWriter } from './create-joined-writer.ts'

test('what comes in one turn is written as one, in its order', async () => {
  const written: string[] = []
  const write = createJoinedWriter(async (text) => void written.push(text))
  const first = write('a')
  await Promise.resolve()
  await Promise.all([first, write('b'), write('c')])
  await write('d')
  await nextTurn()
  await write('e')
  expect(written).toEqual(['abc', 'd', 'e'])
})

test('all of a text that could not be written hear of it, later ones do not', async () => {
  let broken = true
  const write = createJoinedWriter(async () => {
    if (broken) throw new Error('no reader')
  })
  const both = await Promise.allSettled([write('a'), write('b')])
  expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  broken = false
  await expect(write('c')).resolves.toBeUndefined()
})
