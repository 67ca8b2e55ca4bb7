import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { PresentedTool } from '../../contract/registry.ts'
import { toWireNames } from './wire-names.ts'

function presented(name: string, canonical = name): PresentedTool {
  return {
    tool: canonical,
    name,
    title: name,
    description: name,
    inputSchema: { type: 'object' },
    presentation: name === canonical ? 'canonical' : 'compatible',
  }
}

test('every set of names comes back exactly from names that clients take (NAME-5)', () => {
  const segment = fc.stringMatching(/^[a-z_][a-z0-9_-]{0,40}$/)
  const name = fc.array(segment, { minLength: 1, maxLength: 4 }).map((segments) => segments.join('.'))
  fc.assert(
    fc.property(fc.uniqueArray(name, { maxLength: 30 }), (names) => {
      const wire = toWireNames(names.map((each) => presented(each)))
      const wireNames = names.map((each) => wire.wireNameOf(each) ?? '')
      expect(new Set(wireNames).size).toBe(names.length)
      for (const wireName of wireNames) expect(wireName).toMatch(/^[a-zA-Z0-9_-]{1,64}$/)
      expect(wireNames.map((wireName) => wire.find(wireName)?.name)).toEqual(names)
    }),
  )
})

test.each([
  [['a.b', 'a__b', 'a_.b', 'a._b', 'a.b_', 'a']],
  [['mcp.my-server.x', 'mcp.my_server.x', 'mcp.my.server_x']],
  [[`mcp.${'s'.repeat(60)}.read`, `mcp.${'s'.repeat(60)}.write`]],
  [['mcp.服务.读', 'mcp.服务.写', 'mcp.münchen.ö']],
])('tells names apart that look alike when cut or replaced: %j (NAME-5)', (names) => {
  const wire = toWireNames(names.map((name) => presented(name)))
  const wireNames = names.map((name) => wire.wireNameOf(name) ?? '')
  expect(wireNames.map((wireName) => wire.find(wireName)?.tool)).toEqual(names)
  for (const wireName of wireNames) expect(wireName).toMatch(/^[a-zA-Z0-9_-]{1,64}$/)
})

test('finds a tool by the name of its presentation too, and by no other (NAME-5, NAME-6)', () => {
  const wire = toWireNames([presented('Read', 'code.read_file'), presented('code.glob')])
  expect(wire.find('Read')?.tool).toBe('code.read_file')
  expect(wire.find('code.glob')?.tool).toBe('code.glob')
  expect(wire.find('code__glob')?.tool).toBe('code.glob')
  for (const other of ['code.read_file', 'code__read_file', 'read', '__proto__', ''])
    expect(wire.find(other)).toBeUndefined()
  expect(wire.wireNameOf('code.read_file')).toBe('Read')
  expect(wire.wireNameOf('code.none')).toBeUndefined()
})
