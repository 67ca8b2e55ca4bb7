import { randomBytes, randomInt } from 'node:crypto'
import { expect, test } from 'vitest'
import { keepEnds } from './keep-ends.ts'

test('keeps everything while it fits', () => {
  const kept = keepEnds(7)
  for (const text of ['ab', 'cd', 'efg']) kept.add(Buffer.from(text))
  const { head, tail } = kept.parts()
  expect([head.toString(), tail.toString(), kept.bytes()]).toEqual(['abcd', 'efg', 7])
})

test('keeps the first and the last bytes of whatever comes, in pieces of any size', () => {
  for (let round = 0; round < 300; round++) {
    const maxBytes = randomInt(0, 40)
    const kept = keepEnds(maxBytes)
    const chunks = Array.from({ length: randomInt(0, 12) }, () => randomBytes(randomInt(0, 30)))
    for (const chunk of chunks) kept.add(chunk)
    const all = Buffer.concat(chunks)
    const headRoom = Math.ceil(maxBytes / 2)
    const { head, tail } = kept.parts()
    expect(head).toEqual(Buffer.from(all.subarray(0, headRoom)))
    const tailRoom = Math.min(maxBytes - headRoom, Math.max(0, all.length - headRoom))
    expect(tail).toEqual(Buffer.from(all.subarray(all.length - tailRoom)))
    expect(kept.bytes()).toBe(all.length)
  }
})
