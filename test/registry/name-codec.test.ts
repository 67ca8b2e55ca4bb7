import fc from 'fast-check'
import { createNameCodec, providerNames, type NameLimits } from 'handrail'
import { expect, test } from 'vitest'

/** What every provider takes: letters, digits, `_` and `-`. */
const wireGrammar = /^[a-zA-Z0-9_-]+$/

const segment = fc.stringMatching(/^[A-Za-z0-9_-]{1,12}$/)
const first = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9_-]{0,11}$/)
/** Names as the registry takes them, with many near collisions: dots, `_` and `__` in changing places. */
const canonicalName = fc.oneof(
  fc
    .tuple(first, fc.array(segment, { minLength: 1, maxLength: 7 }))
    .map(([head, rest]) => [head, ...rest].join('.')),
  fc.stringMatching(/^[ab](?:[._-]|__|\.[ab_])*\.[ab_]{1,4}$/).filter((name) => !name.includes('..')),
  fc.stringMatching(/^m\.[ab]{60,190}$/),
)
const names = fc.uniqueArray(canonicalName, { minLength: 1, maxLength: 40 })

const providers: [string, NameLimits, RegExp][] = [
  ['a provider that says no more than a length', { maxLength: 32 }, wireGrammar],
  ['Anthropic', providerNames.anthropic, /^[a-zA-Z0-9_-]{1,128}$/],
  ['OpenAI', providerNames.openai, /^[a-zA-Z0-9_-]{1,64}$/],
  ['Bedrock', providerNames.bedrock, /^[a-zA-Z0-9_-]{1,64}$/],
  ['Gemini', providerNames.gemini, /^[a-zA-Z_][a-zA-Z0-9_.-]{0,63}$/],
  ['one without a dash', { maxLength: 64, alphabet: '', first: 'letter' }, /^[a-zA-Z][a-zA-Z0-9_]{0,63}$/],
]

test.each(providers)(
  'every legal set of names comes back exactly, in the characters and the length of %s (NAME-5)',
  (_, limits, grammar) => {
    fc.assert(
      fc.property(names, (set) => {
        const codec = createNameCodec(set, limits)
        const wire = set.map((name) => codec.encode(name))
        expect(new Set(wire).size).toBe(set.length)
        for (const each of wire) expect(each).toMatch(grammar)
        expect(wire.map((each) => codec.decode(each))).toEqual(set)
      }),
      { numRuns: 100 },
    )
  },
)

test('a name that begins with a digit gets a letter first for Gemini, and stays apart from a name of that look (NAME-5)', () => {
  const names = ['9a.b', 't_9a.b', 't.9a.b', '0.1']
  const codec = createNameCodec(names, providerNames.gemini)
  const wires = names.map((name) => codec.encode(name))
  expect(wires[0]).toMatch(/^t_9a__b_x[0-9a-f]{10}$/)
  expect(wires[3]).toMatch(/^t_0__1_x[0-9a-f]{10}$/)
  expect(wires.slice(1, 3)).toEqual(['t_9a__b', 't__9a__b'])
  expect(wires.map((wire) => codec.decode(wire))).toEqual(names)
  expect(createNameCodec(names, providerNames.openai).encode('9a.b')).toBe('9a__b')
})

test('a name has the same wire form in every set and every order (NAME-5)', () => {
  fc.assert(
    fc.property(names, fc.nat(), (set, at) => {
      const name = set[at % set.length] ?? ''
      const alone = createNameCodec([name], { maxLength: 64 }).encode(name)
      expect(createNameCodec(set, { maxLength: 64 }).encode(name)).toBe(alone)
      expect(createNameCodec(set.toReversed(), { maxLength: 64 }).encode(name)).toBe(alone)
    }),
    { numRuns: 200 },
  )
})

test('a wire name that was never given out means nothing (NAME-5)', () => {
  fc.assert(
    fc.property(names, fc.string(), (set, stranger) => {
      const codec = createNameCodec(set, { maxLength: 64 })
      const given = set.map((name) => codec.encode(name))
      fc.pre(!given.includes(stranger))
      expect(codec.decode(stranger)).toBeUndefined()
    }),
  )
  const codec = createNameCodec(['demo.greet'], { maxLength: 64 })
  for (const hostile of ['__proto__', 'constructor', 'demo.greet', 'demo_greet', 'DEMO__GREET', ''])
    expect(codec.decode(hostile)).toBeUndefined()
})

test.each([
  ['a_b.c', 'a.b_c'],
  ['a__b.c', 'a.b__c'],
  ['a.b.c', 'a__b.c'],
  ['my-service.run', 'my_service.run'],
  ['My-Service.run', 'my-service.run'],
  ['a._b', 'a_.b'],
  [`m.${'x'.repeat(80)}a`, `m.${'x'.repeat(80)}b`],
])('%s and %s stay apart on the wire (NAME-5)', (left, right) => {
  const codec = createNameCodec([left, right], { maxLength: 64 })
  expect(codec.encode(left)).not.toBe(codec.encode(right))
  expect(codec.decode(codec.encode(left))).toBe(left)
  expect(codec.decode(codec.encode(right))).toBe(right)
})

test('plain names stay readable, long ones are shortened with a stable digest (NAME-5)', () => {
  const long = `mcp.server.${'very_long_'.repeat(15)}name`
  const codec = createNameCodec(['code.read_file', long], { maxLength: 64 })
  expect(codec.encode('code.read_file')).toBe('code__read_file')
  expect(codec.encode(long)).toMatch(/^mcp__server__very_long_.*_x[0-9a-f]{10}$/)
  expect(codec.encode(long)).toHaveLength(64)
})

test('texts that name tools are said in wire names, whatever else has dots in them (NAME-5)', () => {
  const codec = createNameCodec(['code.edit_file', 'shop.list'], providerNames.openai)
  expect(
    codec.inWireNames(
      'See "shop.list" or code.edit_file. Not a.shop.list, shop.list.x, notes.txt, 1.5 or shop.',
    ),
  ).toBe('See "shop__list" or code__edit_file. Not a.shop.list, shop.list.x, notes.txt, 1.5 or shop.')
})
