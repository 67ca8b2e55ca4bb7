import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readServerUri, toServerUri } from './server-uri.ts'

const named = fc.string({ minLength: 1, unit: 'grapheme' })

test('what a server calls its resource comes back, whatever its letters; no two are the same (BI-9)', () => {
  fc.assert(
    fc.property(named, named, (server, uri) => {
      expect(readServerUri(toServerUri({ server, uri }))).toEqual({ server, uri })
    }),
  )
  const names = ['a/b', 'a%2Fb', 'a', 'b/a'].map((server) => toServerUri({ server, uri: 'x://b/c?d#e' }))
  expect(new Set(names).size).toBe(4)
})

test.each([
  '',
  'handrail://mcp/',
  'handrail://mcp/a',
  'handrail://mcp/a/',
  'handrail://mcp//b',
  'handrail://mcp/a/b/c',
  'handrail://mcp/a/%',
  'x://a/b',
])('%j names none (BI-9)', (uri) => {
  expect(readServerUri(uri)).toBeUndefined()
})
