import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { type } from 'arktype'
import * as v from 'valibot'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { ToolFailure } from '../contract/base/errors.ts'
import { createSchemaChecker } from '../schema/create-schema-checker.ts'
import { inspectSchema } from '../schema/inspect/inspect-schema.ts'
import { describeSchema } from './describe-schema.ts'
import type { StandardSchema } from './standard-schema.ts'

const valibot = v.object({
  path: v.string(),
  limit: v.nullish(v.pipe(v.number(), v.integer(), v.minValue(1))),
  mode: v.optional(v.picklist(['a', 'b']), 'a'),
  size: v.pipe(v.string(), v.transform(Number)),
})

const schemas: [string, StandardSchema][] = [
  [
    'zod',
    z.object({
      path: z.string(),
      limit: z.int().min(1).nullish(),
      mode: z.enum(['a', 'b']).default('a'),
      size: z.string().transform(Number),
    }),
  ],
  ['valibot', valibot],
  ['wrapped valibot', toStandardJsonSchema(valibot)],
  [
    'arktype',
    type({
      path: 'string',
      'limit?': '(number.integer >= 1) | null',
      mode: "'a' | 'b' = 'a'",
      size: ['string', '=>', Number],
    }),
  ],
]

function thrownBy(run: () => unknown): unknown {
  try {
    return run()
  } catch (error) {
    return error
  }
}

test.each(schemas)(
  'a %s schema gives JSON Schema of the subset and its own parse (SDK-2)',
  (_title, input) => {
    const { schema, parse } = describeSchema(input)
    expect(inspectSchema(schema, 'native')).toEqual([])
    expect(schema).toMatchObject({ type: 'object', required: ['path', 'size'] })
    const checker = createSchemaChecker()
    expect(checker.check(schema, { path: 'x', limit: null, size: '1' }).ok).toBe(true)
    expect(checker.check(schema, { path: 'x', limit: 0, size: 1 })).toMatchObject({
      ok: false,
      issues: [{ pointer: '/limit' }, { pointer: '/size' }],
    })
    expect(parse?.({ path: 'x', size: '12' })).toEqual({ path: 'x', mode: 'a', size: 12 })
    expect(thrownBy(() => parse?.({ path: 1, size: '12' }))).toMatchObject({ issues: [{ pointer: '/path' }] })
  },
)

test('JSON Schema is taken as it is (SDK-2)', () => {
  const schema = { type: 'object', properties: {} } as const
  expect(describeSchema(schema)).toEqual({ schema })
})

test('what zod says in other words is brought into the subset (SDK-2)', () => {
  const input = z.object({
    map: z.record(z.string(), z.number()),
    choice: z.union([z.literal('a'), z.literal('b')]),
    mail: z.email(),
    id: z.uuid(),
    when: z.iso.datetime(),
    either: z.union([z.string(), z.array(z.int())]),
    part: z.object({ a: z.string() }).nullable(),
  })
  const { schema } = describeSchema(input)
  expect(inspectSchema(schema, 'native')).toEqual([])
  const value = {
    map: { a: 1 },
    choice: 'b',
    mail: 'a@b.co',
    id: '0b5e5a80-7c5d-4c1e-9d5b-0a1b2c3d4e5f',
    when: '2024-01-01T00:00:00Z',
    either: [1],
    part: null,
  }
  const checker = createSchemaChecker()
  expect(checker.check(schema, value)).toMatchObject({ ok: true })
  expect(checker.check(schema, { ...value, mail: 'x', when: 'now', choice: 'c' })).toMatchObject({
    ok: false,
    issues: [{ pointer: '/choice' }, { pointer: '/mail' }, { pointer: '/when' }],
  })
})

test('what stays outside of the subset may be used by a tool of the program (SCHEMA-2)', () => {
  const { schema } = describeSchema(z.object({ pair: z.tuple([z.string(), z.number()]) }))
  expect(inspectSchema(schema, 'own')).toEqual([])
  expect(inspectSchema(schema, 'native')).toMatchObject([
    { pointer: '/properties/pair/prefixItems', code: 'unsupported_schema' },
    { pointer: '/properties/pair/items' },
  ])
})

test('refinements run in parse, and all that they refuse is thrown with its pointer (SDK-2)', () => {
  const input = z.object({
    list: z.array(z.object({ n: z.number().refine((n) => n % 7 === 0, 'not lucky') })),
    m: z.number().refine((m) => m > 1, 'too small'),
  })
  const thrown = thrownBy(() => describeSchema(input).parse?.({ list: [{ n: 7 }, { n: 8 }], m: 1 }))
  expect(thrown).toBeInstanceOf(ToolFailure)
  expect(thrown).toMatchObject({
    code: 'SCHEMA.VALIDATION_FAILED',
    reason: 'invalid_input',
    message: 'The input does not fit: /list/1/n: not lucky /m: too small',
    issues: [
      { pointer: '/list/1/n', code: 'does_not_fit', message: 'not lucky' },
      { pointer: '/m', code: 'does_not_fit', message: 'too small' },
    ],
  })
})

test('a schema that JSON Schema cannot say is refused at once', () => {
  expect(() => describeSchema(z.object({ at: z.date() }))).toThrow(
    'The zod schema cannot be said as JSON Schema: JSON has no place for Date',
  )
})

test('a schema that validates asynchronously says so', () => {
  const { parse } = describeSchema(z.object({ a: z.string().refine(async () => Promise.resolve(true)) }))
  expect(() => parse?.({ a: 'x' })).toThrow('The zod schema validates asynchronously')
})

test('a library without JSON Schema is named, with what to do', () => {
  const input: StandardSchema = {
    '~standard': { version: 1, vendor: 'other', validate: (value) => ({ value }) },
  }
  expect(() => describeSchema(input)).toThrow('The other schema cannot give JSON Schema; update other')
})
