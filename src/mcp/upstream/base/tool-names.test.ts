import fc from 'fast-check'
import { expect, test } from 'vitest'
import { toSegment } from '../../../kit/names/name-segment.ts'
import { toSourceName, toToolName } from './tool-names.ts'
import { rounds } from '../../../../test/support/rounds.ts'

/** Characters that are of use to an attacker who wants two names to become one. */
const tricky = fc.constantFrom(
  '_',
  'u',
  '5f',
  '_u',
  '_u_',
  '_u2e_',
  '_x',
  '.',
  '-',
  'a',
  'A',
  '读',
  '写',
  '\u0000',
  ' ',
  'é',
  'e\u0301',
  '😀',
  '\ud83d',
  '/',
  'constructor',
  '__proto__',
  'ü',
  'g',
)
const name = fc.oneof(
  fc.array(tricky, { maxLength: 8 }).map((parts) => parts.join('')),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.string({ unit: 'grapheme-ascii', minLength: 200, maxLength: 320 }),
)

/** Reads back what was not shortened. */
function fromSegment(segment: string): string {
  return segment.replaceAll(/_u([0-9a-f]*)_/g, (_, code: string) =>
    code === '' ? '' : String.fromCodePoint(Number.parseInt(code, 16)),
  )
}

test('every name becomes one part of a canonical name, short enough and legal (NAME-1, NAME-5)', () => {
  fc.assert(
    fc.property(name, (raw) => {
      const segment = toSegment(raw, 64)
      expect(segment).toMatch(/^[A-Za-z0-9_-]{1,64}$/)
      expect(['__proto__', 'constructor', 'prototype']).not.toContain(segment)
      expect(toSegment(raw, 64)).toBe(segment)
    }),
    { numRuns: rounds({ usual: 500, long: 2_000 }) },
  )
})

test('what is not shortened can be read back, so that no two names become one (NAME-2, NAME-5)', () => {
  fc.assert(
    fc.property(name, (raw) => {
      const segment = toSegment(raw, 10_000)
      fc.pre(!/_x[0-9a-f]{32}$/.test(segment))
      expect(fromSegment(segment)).toBe(raw)
    }),
    { numRuns: rounds({ usual: 1_000, long: 5_000 }) },
  )
})

test('no two names become one, whatever their letters and lengths (NAME-2, NAME-3)', () => {
  fc.assert(
    fc.property(fc.uniqueArray(name, { maxLength: 40 }), (names) => {
      expect(new Set(names.map((raw) => toSegment(raw, 64))).size).toBe(names.length)
    }),
    { numRuns: rounds({ usual: 300, long: 1_000 }) },
  )
})

test('no plain name takes the name of one that was shortened (NAME-3)', () => {
  const long = 'a'.repeat(300)
  const shortened = toSegment(long, 64)
  expect(shortened).toMatch(/^a{30}_x[0-9a-f]{32}$/)
  expect(toSegment(shortened, 64)).not.toBe(shortened)
  expect(toSegment('\ud83d'.repeat(300), 64)).not.toBe(toSegment('\ud83e'.repeat(300), 64))
})

test.each([
  ['my-service', 'read', 'mcp.my-service.read'],
  ['my_service', 'read', 'mcp.my_service.read'],
  ['My Service', 'read', 'mcp.My_u20_Service.read'],
  ['服务', '读', 'mcp._u670d__u52a1_._u8bfb_'],
  ['a_b', 'c', 'mcp.a_b.c'],
  ['a', 'b_c', 'mcp.a.b_c'],
  ['a', 'b.c', 'mcp.a.b_u2e_c'],
  ['a', 'Read', 'mcp.a.Read'],
  ['a__b', 'x', 'mcp.a__b.x'],
  ['a', '__proto__', 'mcp.a._u5f__proto__'],
  ['a', '', 'mcp.a._u_'],
])('the tool of the server %j that is called %j is %s (NAME-1)', (server, tool, canonical) => {
  expect(toToolName(server, tool)).toBe(canonical)
  expect(canonical.startsWith(`${toSourceName(server)}.`)).toBe(true)
})
