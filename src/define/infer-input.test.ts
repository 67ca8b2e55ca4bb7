import { type } from 'arktype'
import * as v from 'valibot'
import { expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import type { Json } from '../contract/base/json.ts'
import type { JsonSchema } from '../contract/base/schema.ts'
import type { InferInput } from './infer-input.ts'

function declare<const S extends JsonSchema>(schema: S): S {
  return schema
}

test('a JSON Schema literal gives the type of its values (SDK-2)', () => {
  const schema = declare({
    type: 'object',
    properties: {
      path: { type: 'string' },
      lines: { type: 'integer' },
      mode: { type: 'string', enum: ['read', 'write'] },
      kind: { const: 'file' },
      limit: { type: 'integer', default: 10 },
      tags: { type: 'array', items: { type: 'string' } },
      owner: { type: ['string', 'null'] },
      note: { type: 'string', nullable: true },
      nested: { type: 'object', properties: { deep: { type: 'boolean' } }, required: ['deep'] },
      any: {},
    },
    required: ['path', 'mode', 'kind', 'owner', 'any'],
    additionalProperties: false,
  })
  expectTypeOf<InferInput<typeof schema>>().toEqualTypeOf<{
    path: string
    lines?: number
    mode: 'read' | 'write'
    kind: 'file'
    limit: number
    tags?: string[]
    owner: string | null
    note?: string | null
    nested?: { deep: boolean }
    any: Json
  }>()
})

test('maps, arrays and unknown schemas have a type too', () => {
  const map = declare({ type: 'object', additionalProperties: { type: 'number' } })
  expectTypeOf<InferInput<typeof map>>().toEqualTypeOf<{ [name: string]: number }>()
  const object = declare({ type: 'object' })
  expectTypeOf<InferInput<typeof object>>().toEqualTypeOf<{ [name: string]: Json }>()
  const list = declare({ type: 'array', items: { type: 'object', properties: { a: { type: 'null' } } } })
  expectTypeOf<InferInput<typeof list>>().toEqualTypeOf<{ a?: null }[]>()
  const nothing = declare({})
  expectTypeOf<InferInput<typeof nothing>>().toEqualTypeOf<Json>()
})

test('fields beside the declared ones are typed where the schema allows them', () => {
  const open = declare({
    type: 'object',
    properties: { a: { type: 'number' } },
    required: ['a'],
    additionalProperties: true,
  })
  expectTypeOf<InferInput<typeof open>['a']>().toEqualTypeOf<number>()
  expectTypeOf<InferInput<typeof open>['other']>().toEqualTypeOf<Json | undefined>()
})

test('a schema of a library gives its output type (SDK-2)', () => {
  const zod = z.object({ n: z.string().transform(Number), o: z.string().optional() })
  expectTypeOf<InferInput<typeof zod>>().toEqualTypeOf<{ n: number; o?: string | undefined }>()
  const valibot = v.object({ n: v.pipe(v.string(), v.transform(Number)) })
  expectTypeOf<InferInput<typeof valibot>>().toEqualTypeOf<{ n: number }>()
  const ark = type({ n: 'string.numeric.parse', 'o?': 'boolean' })
  expectTypeOf<InferInput<typeof ark>>().toEqualTypeOf<{ n: number; o?: boolean }>()
})
