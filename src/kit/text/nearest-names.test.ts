import { expect, test } from 'vitest'
import { nearestNames } from './nearest-names.ts'

const names = ['code.read_file', 'code.write_file', 'code.run_shell', 'web.fetch', 'demo.a']

test.each([
  ['code.readfile', ['code.read_file', 'code.write_file', 'code.run_shell']],
  ['CODE READ-FILE', ['code.read_file', 'code.write_file', 'code.run_shell']],
  ['write_file', ['code.write_file']],
  ['fetch', ['web.fetch']],
  ['zzz', []],
  ['', []],
  ['…', []],
])('names like %j, best first', (wanted, expected) => {
  expect(nearestNames(wanted, names)).toEqual(expected)
})

test('the best of many, as many as are wanted, alike ones in the order of the alphabet', () => {
  const many = Array.from({ length: 2_000 }, (_, index) => `demo.tool_${index}`)
  expect(nearestNames('demo.tool_1999', many, 1)).toEqual(['demo.tool_1999'])
  expect(nearestNames('demo.tool_', many.toReversed(), 2)).toEqual(['demo.tool_0', 'demo.tool_1'])
  expect(nearestNames('demo.tool_', many)).toEqual(['demo.tool_0', 'demo.tool_1', 'demo.tool_2'])
})

test('a pair counts as often as both have it, and each name by itself', () => {
  expect(nearestNames('aaaa', ['aa', 'aaaaaaaaaaaaaaaaaaaaaaaaa', 'aaaa', 'bbbb'])).toEqual(['aaaa', 'aa'])
})

test('names of one letter are alike where the letter is', () => {
  expect(nearestNames('X', ['y', 'x', 'xy'])).toEqual(['x'])
})
