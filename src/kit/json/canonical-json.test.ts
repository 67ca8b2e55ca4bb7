import fc from 'fast-check'
import { expect, test } from 'vitest'
import { canonicalJson } from './canonical-json.ts'

/** The same by the engine alone. */
function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(sorted)
  const entries = Object.entries(value).map(([key, member]) => [key, sorted(member)] as const)
  return entries.sort(([left], [right]) => (left < right ? -1 : 1))
}

const scalar = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.double(),
  fc.integer(),
  fc.boolean(),
  fc.constantFrom(null, undefined, -0, '"', '\\', '\u2028', '\uD800'),
)

test('canonical text is what JSON says of members in order, flat ones included', () => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.string({ unit: 'binary' }), fc.oneof(scalar, fc.array(scalar)), { maxKeys: 20 }),
      (members) => {
        // An object would put keys that look like numbers first.
        const said = (sorted(members) as [string, unknown][]).flatMap(([key, member]) => {
          const text = JSON.stringify(member)
          return text === undefined ? [] : [`${JSON.stringify(key)}:${text}`]
        })
        expect(canonicalJson(members)).toBe(`{${said.join(',')}}`)
      },
    ),
  )
})
