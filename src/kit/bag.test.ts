import { expect, test } from 'vitest'
import { Bag } from './bag.ts'

test('a bag has what was put in and not taken out, whatever the order', () => {
  const bag = new Bag<string>()
  const [a, b, c] = ['a', 'b', 'c'].map((thing) => bag.add(thing))
  if (a === undefined || b === undefined || c === undefined) throw new Error('none was added')
  bag.remove(a)
  bag.remove(a)
  expect([bag.size, ...[...bag].sort()]).toEqual([2, 'b', 'c'])
  bag.remove(b)
  bag.remove(c)
  bag.add('d')
  bag.remove(c)
  expect([...bag]).toEqual(['d'])
  expect([bag.empty(), bag.size]).toEqual([['d'], 0])
})

test('a walk through a bag does not meet what is taken out meanwhile', () => {
  const bag = new Bag<number>()
  const added = [1, 2, 3, 4].map((thing) => bag.add(thing))
  const met: number[] = []
  for (const thing of bag) {
    met.push(thing)
    for (const one of added.filter((each) => each.thing > 1 && each.thing < 4)) bag.remove(one)
  }
  expect(met).toEqual([1, 4])
})
