import { expect, test } from 'vitest'
import { createPlaces } from './create-places.ts'

test('places come back in whatever order, by name and value, each once', () => {
  const places = createPlaces(10)
  expect([places.keep('a', { x: 1 }), places.keep('b', 'text'), places.keep('a', { x: 2 })]).toEqual([
    1, 2, 3,
  ])
  expect([places.take('a', { x: 2 }), places.take('b', 'text'), places.take('a', { x: 1 })]).toEqual([
    3, 2, 1,
  ])
  expect([places.take('a', { x: 1 }), places.take('c', undefined)]).toEqual([4, 5])
})

test('a value that was changed since, or is kept again, has a later place', () => {
  const places = createPlaces(10)
  places.keep('a', 1)
  places.keep('a', 1)
  expect([places.take('a', 2), places.take('a', 1), places.take('a', 1)]).toEqual([3, 2, 4])
})

test('what never comes back is forgotten, the oldest first', () => {
  const places = createPlaces(2)
  for (const name of ['a', 'b', 'c']) places.keep(name, name)
  for (const value of [1, 2, 3]) places.keep('c', value)
  expect([places.take('a', 'a'), places.take('b', 'b'), places.take('c', 'c')]).toEqual([7, 2, 8])
  expect([places.take('c', 1), places.take('c', 2), places.take('c', 3)]).toEqual([9, 5, 6])
})
