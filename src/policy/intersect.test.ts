import { expect, test } from 'vitest'
import { intersect, meetHosts } from './intersect.ts'

test.each([
  ['*', 'a.example.com', 'a.example.com'],
  ['*.example.com', 'a.b.example.com', 'a.b.example.com'],
  ['*.a.example.com', '*.example.com', '*.a.example.com'],
  ['api-*.example.com', 'api-eu.example.com', 'api-eu.example.com'],
  ['api-*.example.com', 'api-eu.evil.example.com', undefined],
  ['example.*', 'example.evil.com', undefined],
  ['*.example.com', 'example.com', undefined],
  ['*.example.com', 'evilexample.com', undefined],
  ['example.com', 'example.com.evil.test', undefined],
  ['db.example.com:5432', '*', 'db.example.com:5432'],
  ['*.example.com:5432', 'db.example.com', 'db.example.com:5432'],
  ['db.example.com:5432', '*:5432', 'db.example.com:5432'],
  ['db.example.com:5432', 'db.example.com:5433', undefined],
  ['::1', '*:5432', '[::1]:5432'],
])('of the hosts %s and %s, %s is in both', (left, right, both) => {
  expect(meetHosts(left, right)).toBe(both)
  expect(meetHosts(right, left)).toBe(both)
})

test('an empty list of hosts leaves nothing', () => {
  expect(intersect([], ['*'], meetHosts)).toEqual([])
  expect(intersect(['*'], [], meetHosts)).toEqual([])
})
