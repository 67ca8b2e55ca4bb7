import { expect, test } from 'vitest'
import { createNameCodec } from './name-codec.ts'

test('two names that were made to share ten digits of their digest are both kept (NAME-5)', () => {
  // sha256 of both begins with 605242fd29.
  const names = ['mcp.evil.tool__164664', 'mcp.evil.tool__1595349']
  const codec = createNameCodec(names, { maxLength: 64 })
  const wires = names.map((name) => codec.encode(name))
  expect(wires[0]).toMatch(/_x605242fd29$/)
  expect(new Set(wires).size).toBe(2)
  expect(wires.map((wire) => codec.decode(wire))).toEqual(names)
})

test('a plain name cannot pose as the digest form of another (NAME-5)', () => {
  const codec = createNameCodec(['a__b'], { maxLength: 64 })
  const posing = codec.encode('a__b').replace('__', '.')
  const both = createNameCodec(['a__b', posing], { maxLength: 64 })
  expect(both.encode(posing)).not.toBe(both.encode('a__b'))
})
