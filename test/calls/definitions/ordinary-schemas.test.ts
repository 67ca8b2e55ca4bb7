import { type } from 'arktype'
import { createRuntime, defineTool, ToolAdapter, type JsonObject, type Tool } from 'handrail'
import type { InputSchema } from 'handrail/tools'
import * as v from 'valibot'
import { expect, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import { z as z3 } from 'zod/v3'
import { makeFolder, openRuntime } from '../../support/project.ts'

const manifest = { name: 'demo.tool', description: 'Is a tool.', permission: 'readonly' } as const

const echo = (input: InputSchema): Tool =>
  defineTool({ ...manifest, input, run: (given) => given as JsonObject })

async function open(input: InputSchema) {
  const session = (await openRuntime({ tools: [echo(input)], store: 'memory' })).session()
  return async (given: unknown) => {
    const { data, error } = await session.call('demo.tool', given)
    return error === undefined ? data : error.message
  }
}

interface Person {
  name: string
  children: Person[]
}
const person: z.ZodType<Person> = z.lazy(() => z.object({ name: z.string(), children: z.array(person) }))
const link = z.object({
  at: z.number(),
  get next() {
    return link.optional()
  },
})
const card = z.object({ kind: z.literal('card'), number: z.string() })
const cash = z.object({ kind: z.literal('cash'), paid: z.number() })
const cardOfValibot = v.object({ kind: v.literal('card'), number: v.string() })
const cashOfValibot = v.object({ kind: v.literal('cash'), paid: v.number() })
const cardOfArk = { kind: "'card'", number: 'string' } as const
const cashOfArk = { kind: "'cash'", paid: 'number' } as const

/** A schema, inputs that it takes, and inputs that it refuses, with a part of the reason. */
const ordinary: readonly [
  string,
  InputSchema,
  readonly unknown[],
  readonly (readonly [unknown, string])[],
][] = [
  [
    'zod: a discriminated union',
    z.object({ by: z.discriminatedUnion('kind', [card, cash]) }),
    [{ by: { kind: 'card', number: '1' } }, { by: { kind: 'cash', paid: 1 } }],
    [
      [{ by: { kind: 'cash', paid: '1' } }, '/by/paid: Found the string "1"; give a number.'],
      [{ by: { kind: 'coin' } }, 'give "card"'],
    ],
  ],
  [
    'zod: a discriminated union at the top',
    z.discriminatedUnion('kind', [card, cash]),
    [
      { kind: 'card', number: '1' },
      { kind: 'cash', paid: 1 },
    ],
    [
      [{ kind: 'cash' }, '"demo.tool": /paid: The field "paid" is missing.'],
      [{ kind: 'cash', paid: 1, extra: 1 }, 'There is no field "extra"'],
      [{ kind: 'cash', paid: 1, number: '1' }, 'There is no field "number"'],
      [[], 'give an object'],
    ],
  ],
  [
    'zod: a union of objects at the top, with what all have',
    z.intersection(z.object({ id: z.string() }), z.union([card, cash])),
    [{ id: 'a', kind: 'card', number: '1' }],
    [
      [{ id: 'a' }, 'none of the allowed forms'],
      [{ kind: 'card', number: '1' }, 'The field "id" is missing'],
      [{ id: 'a', kind: 'card', number: '1', extra: 1 }, 'There is no field "extra"'],
    ],
  ],
  [
    'zod: a type that contains itself',
    z.object({ person }),
    [{ person: { name: 'a', children: [{ name: 'b', children: [] }] } }],
    [[{ person: { name: 'a', children: [{ name: 1 }] } }, '/person/children/0/name: Found the number 1']],
  ],
  ['zod: such a type at the top', person, [{ name: 'a', children: [] }], [[{ name: 'a' }, 'children']]],
  ['zod: such a type by a getter', link, [{ at: 1, next: { at: 2 } }], [[{ at: 1, next: {} }, '/next/at']]],
  [
    'zod: any JSON',
    z.object({ value: z.json() }),
    [{ value: { a: [1, null, { b: 'c' }] } }, { value: null }],
    [[{}, 'The field "value" is missing']],
  ],
  [
    'zod: tuples',
    z.object({ pair: z.tuple([z.string(), z.number()]), rest: z.tuple([z.string()], z.number()).optional() }),
    [{ pair: ['a', 1] }, { pair: ['a', 1], rest: ['a', 1, 2] }],
    [
      [{ pair: ['a', 1, 2] }, 'give at most 2'],
      [{ pair: ['a'] }, 'give at least 2'],
      [{ pair: ['a', 1], rest: ['a', 'b'] }, '/rest/1'],
    ],
  ],
  [
    'zod: never, undefined and a union with undefined',
    z.object({
      never: z.never().optional(),
      nothing: z.undefined().optional(),
      maybe: z.union([z.string(), z.undefined()]).optional(),
      one: z.literal([undefined, 'a']).optional(),
    }),
    [{}, { maybe: 'a', one: 'a' }],
    [
      [{ never: 1 }, '/never: Nothing is allowed here'],
      [{ nothing: null }, '/nothing: Nothing is allowed here'],
      [{ maybe: null }, '/maybe'],
    ],
  ],
  [
    'zod: records with certain keys',
    z.object({
      all: z.record(z.enum(['a', 'b']), z.number()),
      some: z.partialRecord(z.enum(['a']), z.number()),
    }),
    [{ all: { a: 1, b: 2 }, some: {} }],
    [
      [{ all: { a: 1 }, some: {} }, '/all/b'],
      [{ all: { a: 1, b: 2 }, some: { c: 1 } }, '"c"'],
    ],
  ],
  [
    'Valibot: variants, tuples, never and flags of a pattern',
    v.object({
      by: v.variant('kind', [cardOfValibot, cashOfValibot]),
      pair: v.strictTuple([v.string(), v.number()]),
      never: v.optional(v.never()),
      word: v.pipe(v.string(), v.regex(/^ab+$/i)),
    }),
    [{ by: { kind: 'cash', paid: 1 }, pair: ['a', 1], word: 'ABB' }],
    [
      [{ by: { kind: 'cash' }, pair: ['a', 1], word: 'ab' }, '/by'],
      [{ by: { kind: 'cash', paid: 1 }, pair: ['a', 1, 2], word: 'ab' }, '/pair/2'],
      [{ by: { kind: 'cash', paid: 1 }, pair: ['a', 1], word: 'AC' }, '/word'],
    ],
  ],
  [
    'Valibot: a variant at the top',
    v.variant('kind', [cardOfValibot, cashOfValibot]),
    [{ kind: 'cash', paid: 1 }],
    [[{ kind: 'cash', paid: 1, extra: 1 }, 'There is no field "extra"']],
  ],
  [
    'ArkType: unions, tuples and never',
    type({ by: [cardOfArk, '|', cashOfArk], pair: ['string', 'number'], 'never?': 'never' }),
    [{ by: { kind: 'cash', paid: 1 }, pair: ['a', 1] }],
    [
      [{ by: { kind: 'cash' }, pair: ['a', 1] }, '/by'],
      [{ by: { kind: 'cash', paid: 1 }, pair: ['a', 1, 2] }, '/pair/2'],
      [{ by: { kind: 'cash', paid: 1 }, pair: ['a', 1], never: 1 }, '/never'],
    ],
  ],
  [
    'ArkType: a union at the top, and a type that contains itself',
    type({ name: 'string', 'children?': 'this[]' }).or({ nobody: 'true' }),
    [{ name: 'a', children: [{ name: 'b' }] }, { nobody: true }],
    [[{ name: 'a', children: [{ name: 1 }] }, 'none of the allowed forms']],
  ],
  [
    'JSON Schema with choices, references and tuples',
    {
      anyOf: [{ $ref: '#/$defs/card' }, { type: 'object', properties: { cash: { $ref: '#/$defs/pair' } } }],
      $defs: {
        card: { type: 'object', properties: { card: { type: 'string' } }, required: ['card'] },
        pair: {
          type: 'array',
          prefixItems: [{ type: 'string' }, true],
          minItems: 2,
          unevaluatedItems: false,
        },
      },
    },
    [{ card: 'a' }, { cash: ['a', {}] }],
    [
      [{ card: 1 }, 'none of the allowed forms'],
      [{ cash: ['a', 1, 2] }, '/cash/2'],
      [{ other: 1 }, 'There is no field "other"'],
    ],
  ],
]

test.each(ordinary)('%s (SDK-2, SCHEMA-3)', async (...[, input, fitting, misfits]) => {
  const call = await open(input)
  for (const given of fitting) expect(await call(given)).toEqual(given)
  for (const [given, reason] of misfits) expect(await call(given)).toContain(reason)
})

test('a tool gets what zod makes of its input: a union is transformed, a coerced date is a Date (SDK-2)', async () => {
  const size = z.object({ unit: z.literal('m'), size: z.string().transform(Number) })
  const other = z.object({ unit: z.literal('ft'), size: z.number().default(3) })
  const tool = defineTool({
    ...manifest,
    input: z.object({ what: z.discriminatedUnion('unit', [size, other]), at: z.coerce.date() }),
    run({ what, at }) {
      expectTypeOf(what.size).toEqualTypeOf<number>()
      expectTypeOf(at).toEqualTypeOf<Date>()
      return { size: what.size, at: at.getUTCFullYear() }
    },
  })
  const session = (await openRuntime({ tools: [tool], store: 'memory' })).session()
  const at = '2026-01-01T00:00:00Z'
  expect((await session.call('demo.tool', { what: { unit: 'm', size: '5' }, at })).data).toEqual({
    size: 5,
    at: 2026,
  })
  expect((await session.call('demo.tool', { what: { unit: 'ft' }, at })).data).toEqual({ size: 3, at: 2026 })
  expect((await session.call('demo.tool', { what: { unit: 'ft' }, at: 5 })).error?.reason).toBe(
    'invalid_input',
  )
})

test('a union in an output is held to, and what does not fit never reaches the model (SCHEMA-3)', async () => {
  const output = z.union([z.object({ found: z.string() }), z.object({ missing: z.literal(true) })])
  const tool = defineTool({
    ...manifest,
    input: z.object({ value: z.json() }),
    output,
    run: ({ value }) => value,
  })
  const session = (await openRuntime({ tools: [tool], store: 'memory' })).session()
  expect((await session.call('demo.tool', { value: { missing: true } })).ok).toBe(true)
  const wrong = await session.call('demo.tool', { value: { missing: false } })
  expect(wrong.error?.reason).toBe('invalid_output')
})

test.each<[string, () => unknown, RegExp]>([
  ['a Date', () => echo(z.object({ at: z.date() })), /z\.coerce\.date\(\).*ISO 8601/],
  ['a BigInt', () => echo(z.object({ at: z.bigint() })), /z\.coerce\.bigint\(\).*digits/],
  ['a BigInt as a value', () => echo(z.object({ at: z.literal(1n) })), /BigInt.*digits/],
  ['a file', () => echo(z.object({ at: z.file() })), /File.*Base64/],
  ['a Map', () => echo(z.object({ at: z.map(z.string(), z.string()) })), /Map.*a record/],
  ['a Set', () => echo(z.object({ at: z.set(z.string()) })), /Set.*an array/],
  ['a class', () => echo(z.object({ at: z.instanceof(URL) })), /z\.instanceof\(\).*\.refine\(/],
  [
    'zod 3',
    () => echo(z3.object({ at: z3.string() }) as unknown as InputSchema),
    /zod 3 .*npm install zod@4/,
  ],
  [
    'fields of zod without their object',
    () => echo({ at: z.string() } as unknown as InputSchema),
    /z\.object\(\{ at: … \}\)/,
  ],
  ['a field that can never be there', () => echo(z.object({ at: z.undefined() })), /"at".*\.optional\(\)/],
  ['a Date of Valibot', () => echo(v.object({ at: v.date() })), /date.*ISO 8601/],
  ['a Date of ArkType', () => echo(type({ at: 'Date' })), /Date.*ISO 8601/],
  ['a bigint of ArkType', () => echo(type({ at: 'bigint' })), /bigint.*digits/],
  ['a class of ArkType', () => echo(type({ at: 'File' })), /File.*Base64/],
])('%s is refused where the tool is written, with what to use (SDK-2)', (_, make, message) => {
  expect(make).toThrow(expect.objectContaining({ code: 'unsupported_schema' }))
  expect(make).toThrow(message)
  expect(make).toThrow(/\.$/)
})

const bad: readonly [string, object, string, RegExp][] = [
  [
    'a reference that leaves',
    { properties: { a: { $ref: 'https://x.test/a' } } },
    '/properties/a/$ref',
    /\$defs/,
  ],
  ['a reference to nothing', { properties: { a: { $ref: '#/$defs/b' } } }, '/properties/a/$ref', /names no/],
  ['a mistyped keyword in a choice', { anyOf: [{ requird: [] }] }, '/anyOf/0/requird', /"required"/],
  ['a mistyped keyword beside one', { oneOf: [{ type: 'object' }], oneof: [] }, '/oneof', /"oneOf"/],
  ['an older keyword', { definitions: {} }, '/definitions', /write "\$defs"/],
  ['a pattern with a lookbehind', { patternProperties: { '(?<=a)b': {} } }, '/patternProperties', /./],
  [
    'a reference that comes back to itself',
    { $defs: { a: { anyOf: [{ $ref: '#/$defs/a' }, {}] } }, items: { $ref: '#/$defs/a' } },
    '/$defs/a',
    /no value could fit/,
  ],
  ['an empty choice', { anyOf: [] }, '/anyOf', /at least one schema/],
]

test.each(bad)(
  '%s is refused at registration, with its pointer (SCHEMA-2)',
  async (...[, schema, pointer, words]) => {
    const refused = createRuntime({ project: makeFolder(), tools: [echo({ type: 'object', ...schema })] })
    const error: unknown = await refused.catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({
      issues: [
        {
          pointer: expect.stringContaining(`/demo.tool/inputSchema${pointer}`) as string,
          message: expect.stringMatching(words) as string,
        },
      ],
    })
  },
)

test('a schema that contains itself as an object is refused and does not hang (SCHEMA-6)', async () => {
  const around: { type: 'object'; properties: Record<string, unknown> } = { type: 'object', properties: {} }
  for (const name of ['a', 'b', 'c']) around.properties[name] = around
  const refused = createRuntime({ project: makeFolder(), tools: [echo(around as InputSchema)] })
  await expect(refused).rejects.toThrow(/levels deep/)
})

test('a pattern in a choice cannot hang a call (SCHEMA-6)', async () => {
  const text = { type: 'string', pattern: '^(a|aa)+$' } as const
  const call = await open({ type: 'object', properties: { x: { anyOf: [text, { type: 'integer' }] } } })
  expect(await call({ x: `${'a'.repeat(50_000)}b` })).toContain('/x')
})

test('keywords that say nothing of values are taken, and not shown to models (SCHEMA-2)', () => {
  const about = { $schema: 'https://json-schema.org/draft/2020-12/schema', $comment: 'For us.' }
  const input = { ...about, type: 'object', properties: { a: { type: 'string', readOnly: true } } }
  expect(echo(input as InputSchema).definition.inputSchema).toEqual({
    type: 'object',
    properties: { a: { type: 'string' } },
    additionalProperties: false,
  })
})

test('the class form takes choices too (SDK-7)', async () => {
  class Pay extends ToolAdapter {
    run(input: JsonObject) {
      return input
    }
  }
  const inputSchema = {
    oneOf: [
      { type: 'object', properties: { card: { type: 'string' } }, required: ['card'] },
      { type: 'object', properties: { cash: { type: 'number' } }, required: ['cash'] },
    ],
  } as const
  const session = (
    await openRuntime({ tools: [new Pay({ ...manifest, inputSchema })], store: 'memory' })
  ).session()
  expect((await session.call('demo.tool', { card: 'a' })).data).toEqual({ card: 'a' })
  expect((await session.call('demo.tool', { card: 1 })).error?.reason).toBe('invalid_input')
})

test('fields in snake_case and a choice do not go together, which is said where the tool is written (SDK-8)', () => {
  const input = z.object({ payBy: z.discriminatedUnion('kind', [card, cash]) })
  expect(() => defineTool({ ...manifest, input, wireCase: 'snake_case', run: () => null })).toThrow(
    /"wireCase"/,
  )
})
