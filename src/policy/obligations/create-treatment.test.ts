import { expect, test } from 'vitest'
import type { Json, JsonObject } from '../../contract/base/json.ts'
import type { Treated, TreatmentFacts } from '../../contract/obligations.ts'
import type { Obligation } from '../../contract/policy.ts'
import type { ToolOutput } from '../../contract/base/result.ts'
import type { JsonSchema } from '../../contract/base/schema.ts'
import { toolOutput } from '../../kit/result/tool-output.ts'
import { toDefinition } from '../../define/to-definition.ts'
import { createSchemaChecker } from '../../schema/create-schema-checker.ts'
import { compilePattern } from '../../schema/pattern/compile-pattern.ts'
import { compileObligations } from './compile-obligations.ts'

const checker = createSchemaChecker()

interface Given {
  input?: JsonSchema
  output?: JsonSchema
  tenant?: string
  tags?: readonly string[]
}

function treatmentOf(obligations: readonly Omit<Obligation, 'id'>[], given: Given = {}) {
  const { input = { type: 'object' }, output, tenant = 'local', tags = [] } = given
  const named = obligations.map((each, index) => ({ id: `o${index}`, ...each }))
  const definition = toDefinition({ name: 'demo.tool', description: '', tags }, { input, output, needs: [] })
  return compileObligations(named, { tenant, compilePattern })?.of(definition)
}

function treat(
  obligation: Omit<Obligation, 'id'>,
  output: Partial<ToolOutput>,
  schema?: JsonSchema,
): Treated {
  const about: TreatmentFacts = {
    tenant: 'acme',
    actor: 'ada',
    call: 'call_1',
    at: Date.UTC(2026, 0, 2),
    findIssues(data) {
      const checked = schema === undefined ? undefined : checker.check(schema, data)
      return checked === undefined || checked.ok ? [] : checked.issues
    },
  }
  const treatment = treatmentOf([obligation], { ...(schema !== undefined && { output: schema }) })
  if (treatment === undefined) throw new Error('nothing is owed')
  return treatment.output(toolOutput(output), about)
}

function dataOf(obligation: Omit<Obligation, 'id'>, data: Json, schema?: JsonSchema): Json | undefined {
  const treated = treat(obligation, { data }, schema)
  if ('failed' in treated) throw new Error(`failed: ${treated.failed.join()}`)
  return treated.output.data
}

const redact = (more: Partial<Obligation>) => ({ action: 'redact' as const, ...more })
const mask = (more: Partial<Obligation>) => ({ action: 'mask' as const, ...more })

test.each<[string, Partial<Obligation>, Json, Json]>([
  ['one member', { pointers: ['/a'] }, { a: 'x', b: 'yy' }, { a: '[redacted]', b: 'yy' }],
  [
    'a member of every item',
    { pointers: ['/*/a'] },
    [{ a: 'x1' }, { a: 'x2' }],
    [{ a: '[redacted]' }, { a: '[redacted]' }],
  ],
  [
    'every member',
    { pointers: ['/m/*'] },
    { m: { p: 'x1', q: 'x2' } },
    { m: { p: '[redacted]', q: '[redacted]' } },
  ],
  ['one item', { pointers: ['/1'] }, ['keep', 'hide'], ['keep', '[redacted]']],
  [
    'a name with a slash',
    { pointers: ['/a~1b/c~0d'] },
    { 'a/b': { 'c~d': 'x' } },
    { 'a/b': { 'c~d': '[redacted]' } },
  ],
  ['nothing where nothing is', { pointers: ['/zz/top'] }, { a: 'x' }, { a: 'x' }],
  ['a number, which becomes null', { pointers: ['/n'] }, { n: 4711 }, { n: null }],
  ['an object as a whole', { pointers: ['/o'] }, { o: { a: 1 } }, { o: null }],
  [
    'what a pattern finds',
    { patterns: ['\\d{3}-\\d{4}'] },
    { a: ['call 555-1234 now'] },
    { a: ['call [redacted] now'] },
  ],
  ['what a pattern finds in a name', { patterns: ['\\d{3}-\\d{4}'] }, { '555-1234': 1 }, { '[redacted]': 1 }],
  ['a number that a pattern finds', { patterns: ['^\\d{16}$'] }, { card: 4111111111111111 }, { card: null }],
  [
    'the same value elsewhere',
    { pointers: ['/a'] },
    { a: 'secret', b: 'a secret here' },
    { a: '[redacted]', b: 'a [redacted] here' },
  ],
])('redacts %s (OUT-3)', (...[, obligation, data, expected]) => {
  const before = structuredClone(data)
  expect(dataOf(redact(obligation), data)).toEqual(expected)
  expect(data).toEqual(before)
})

test.each<[string, Json, Json]>([
  ['the last four characters stay', '4111111111111234', '****1234'],
  ['four are masked whole', '1234', '****'],
  ['fewer are masked whole', 'ab', '****'],
  ['characters are not cut in half', 'abc😀def', '****😀def'],
  ['what is not text is not shown', 12345678, null],
  ['texts inside are masked', { x: ['abcdefgh'] }, { x: ['****efgh'] }],
])('a mask: %s (OUT-3)', (_, value, expected) => {
  expect(dataOf(mask({ pointers: ['/v'] }), { v: value })).toEqual({ v: expected })
})

test('a mask by pattern leaves the last four of each occurrence (OUT-3)', () => {
  expect(dataOf(mask({ patterns: ['\\d{8,}'] }), 'a 12345678 b 99998888')).toBe('a ****5678 b ****8888')
})

const people: JsonSchema = {
  type: 'object',
  properties: {
    people: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          name: { type: 'string', 'x-classification': 'pii' },
          salary: { type: 'integer', 'x-classification': ['pii', 'hr'] },
          team: { type: 'string' },
        },
        required: ['name'],
      },
    },
    notes: { type: 'object', additionalProperties: { type: 'string', 'x-classification': 'pii' } },
  },
}

test.each(['redact', 'mask'] as const)(
  'what a %s has hidden stays as it is when it is treated again (OUT-3)',
  (action) => {
    const obligation = { action, pointers: ['/phone'] }
    const once = dataOf(obligation, { phone: '0123456789' })
    expect(dataOf(obligation, once ?? null)).toEqual(once)
  },
)

test('fields of a classification are found in items and members, by the schema (OUT-3)', () => {
  const given: Json[] = [{ name: 'Ada L', salary: 5, team: 'x' }, { name: 'Bob M' }]
  const data = { people: given, notes: { any: 'thing' } }
  expect(dataOf(redact({ classifications: ['pii'] }), data, people)).toEqual({
    people: [{ name: '[redacted]', team: 'x' }, { name: '[redacted]' }],
    notes: { any: '[redacted]' },
  })
  expect(dataOf(redact({ classifications: ['hr'] }), data, people)).toEqual({
    people: [{ name: 'Ada L', team: 'x' }, { name: 'Bob M' }],
    notes: { any: 'thing' },
  })
})

test.each<[string, object]>([
  ['a choice', { anyOf: [{ type: 'string', 'x-classification': 'pii' }, { type: 'integer' }] }],
  ['a conjunction', { allOf: [{ type: 'string' }, { 'x-classification': 'pii' }] }],
  ['a reference', { $ref: '#/$defs/Name' }],
  ['a condition', { if: { type: 'integer' }, else: { 'x-classification': 'pii' } }],
])('a classification is found behind %s (OUT-3)', (_, field) => {
  const schema = {
    type: 'object',
    properties: { name: field },
    $defs: { Name: { type: 'string', 'x-classification': 'pii' } },
  } as JsonSchema
  const treated = treat(redact({ classifications: ['pii'] }), { data: { name: 'Ada' } }, schema)
  expect(treated).toMatchObject({ output: { data: { name: '[redacted]' } } })
})

test('a schema that contains itself has an end, and is followed as far as the data goes (OUT-3)', () => {
  const schema = {
    type: 'object',
    properties: { name: { type: 'string', 'x-classification': 'pii' }, next: { $ref: '#' } },
    anyOf: [{ $ref: '#' }, {}],
  } as JsonSchema
  const treatment = treatmentOf([redact({ classifications: ['pii'] })], { output: schema })
  const data = { name: 'A1', next: { name: 'B1', next: { name: 'C1' } } }
  const facts = { tenant: '', actor: '', call: '', at: 0, findIssues: () => [] }
  expect(treatment?.output(toolOutput({ data }), facts)).toMatchObject({
    output: { data: { name: '[redacted]', next: { name: '[redacted]', next: { name: '[redacted]' } } } },
  })
})

const typed = (field: JsonSchema, required: string[] = []): JsonSchema => ({
  type: 'object',
  properties: { v: field, w: { type: 'string' } },
  required,
})

test.each<[string, JsonSchema, Json, Json]>([
  [
    'null where the schema takes it',
    typed({ type: 'string', pattern: '^[a-z]$', nullable: true }),
    'a',
    { v: null, w: 'x' },
  ],
  ['left out where it may be', typed({ type: 'integer' }), 7, { w: 'x' }],
  ['left out where no mark fits', typed({ type: 'string', maxLength: 3 }), 'abc', { w: 'x' }],
])('a value whose mark does not fit its schema is %s (OUT-3)', (...[, schema, value, expected]) => {
  expect(dataOf(redact({ pointers: ['/v'] }), { v: value, w: 'x' }, schema)).toEqual(expected)
})

test('every item gives way with the first one that has to (OUT-3)', () => {
  const schema: JsonSchema = { type: 'array', items: typed({ type: 'integer' }) }
  const data = Array.from({ length: 200 }, (_, v) => ({ v, w: 'x' }))
  expect(dataOf(redact({ pointers: ['/*/v'] }), data, schema)).toEqual(data.map(() => ({ w: 'x' })))
})

test('a required number that may not be shown withholds the result, or the data (OUT-3)', () => {
  const schema = typed({ type: 'integer' }, ['v'])
  const output = {
    data: { v: 4711, w: 'x' },
    content: [
      { type: 'json' as const, json: { v: 4711, w: 'x' } },
      { type: 'text' as const, text: 'v is 4711' },
    ],
  }
  expect(treat(redact({ pointers: ['/v'] }), output, schema)).toEqual({ failed: ['o0'] })
  const degraded = treat(redact({ pointers: ['/v'], onFailure: 'degrade' }), output, schema)
  const withheld = '[withheld: the policy\'s obligation "o0" could not be carried out]'
  expect(degraded).toMatchObject({ metadata: { withheld } })
  expect('output' in degraded && degraded.output.data).toBeUndefined()
  expect('output' in degraded && degraded.output.content).toEqual([
    { type: 'text', text: withheld },
    { type: 'text', text: 'v is [redacted]' },
  ])
})

test('a pattern that takes too long withholds the result, or what it was for (OUT-3, SCHEMA-6)', () => {
  const data = `${'a'.repeat(1_000_000)}!`
  const slow = { patterns: ['(a|b|ab)*(a|b)*(a|b)*c'] }
  expect(treat(redact(slow), { data })).toEqual({ failed: ['o0'] })
  const degraded = treat(redact({ ...slow, onFailure: 'degrade' }), {
    data: 'x',
    content: [{ type: 'text', text: data }],
  })
  expect(JSON.stringify(degraded)).not.toContain('aaaa')
  expect('output' in degraded && degraded.output.content[1]).toMatchObject({
    text: expect.stringContaining('withheld'),
  })
})

test('texts that show the data show it as it may be shown (OUT-3)', () => {
  const data = { name: 'Ada "Lady" Lovelace', id: 42, flag: true }
  const text = (value: string) => ({ type: 'text' as const, text: value })
  const treated = treat(redact({ pointers: ['/name', '/id', '/flag'] }), {
    data,
    content: [
      text(JSON.stringify(data)),
      text(JSON.stringify(data, null, 2)),
      text('Ada "Lady" Lovelace has the number 42, not 421.'),
      text('["Ada \\"Lady\\" Lovelace", 42]'),
      { type: 'json', json: { ...data } },
      { type: 'json', json: { of: 'Ada "Lady" Lovelace', n: 42 } },
      { type: 'resource', uri: 'x://42', text: 'Ada "Lady" Lovelace' },
      { type: 'image', data: 'QWRh', mimeType: 'image/png' },
    ],
    summary: 'found Ada "Lady" Lovelace',
    error: { reason: 'half', message: 'no more than Ada "Lady" Lovelace', data: { n: 42 } },
    metadata: { who: 'Ada "Lady" Lovelace' },
    artifacts: [{ digest: 'sha256:0', bytes: 1, mimeType: 'text/plain', name: '42.txt' }],
  })
  const clean = { name: '[redacted]', id: null, flag: null }
  expect('output' in treated && treated.output).toMatchObject({
    data: clean,
    content: [
      { text: JSON.stringify(clean) },
      { text: JSON.stringify(clean, null, 2) },
      { text: '[redacted] has the number [redacted], not 421.' },
      { text: '["[redacted]", [redacted]]' },
      { json: clean },
      { json: { of: '[redacted]', n: null } },
      { uri: 'x://[redacted]', text: '[redacted]' },
      { data: 'QWRh' },
    ],
    summary: 'found [redacted]',
    error: { reason: 'half', message: 'no more than [redacted]', data: { n: null } },
    metadata: { who: '[redacted]' },
    artifacts: [{ name: '[redacted].txt' }],
  })
})

test('thousands of hidden values are looked for in one pass (OUT-3)', () => {
  const names = Array.from({ length: 20_000 }, (_, index) => `person-${index}`)
  const treated = treat(redact({ pointers: ['/*'] }), {
    data: names,
    content: [{ type: 'text', text: names.join(', ') }],
  })
  expect('output' in treated && treated.output.content[0]).toEqual({
    type: 'text',
    text: names.map(() => '[redacted]').join(', '),
  })
})

test('a member named __proto__ neither stays nor pollutes (OUT-3, SCHEMA-6)', () => {
  const data = JSON.parse('{"__proto__": {"name": "555-1234"}, "a": {"__proto__": "555-1234"}}') as Json
  expect(JSON.stringify(dataOf(redact({ patterns: ['\\d{3}-\\d{4}'] }), data))).not.toContain('1234')
  expect(({} as JsonObject)['name']).toBeUndefined()
})

test('what is redacted is not masked (OUT-3)', () => {
  const treatment = treatmentOf([mask({ pointers: ['/a'] }), redact({ pointers: ['/a'] })])
  const facts = { tenant: '', actor: '', call: '', at: 0, findIssues: () => [] }
  expect(treatment?.output(toolOutput({ data: { a: 'abcdefgh' } }), facts)).toMatchObject({
    output: { data: { a: '[redacted]' } },
    metadata: { obligations: ['o1', 'o0'] },
  })
})

test('a watermark is filled in and added (OUT-3)', () => {
  const treated = treat(
    { action: 'watermark', text: 'for {actor} of {tenant}, {call} at {at}, not for {others}' },
    { content: [{ type: 'text', text: 'x' }] },
  )
  const watermark = 'for ada of acme, call_1 at 2026-01-02T00:00:00.000Z, not for {others}'
  expect(treated).toMatchObject({
    output: { content: [{ text: 'x' }, { type: 'text', text: watermark }] },
    metadata: { watermark, obligations: ['o0'] },
  })
})

test('an obligation holds for the tenants, tools and tags that it names (OUT-3)', () => {
  const text = (more: Partial<Obligation>, given: Given = {}) =>
    treatmentOf([redact({ patterns: ['x+'], ...more })], given)?.text('xx')
  expect(text({ tools: ['demo.*'] })).toBe('[redacted]')
  expect(text({ tools: ['demo'] })).toBeUndefined()
  expect(text({ tenants: ['a*'] }, { tenant: 'acme' })).toBe('[redacted]')
  expect(text({ tenants: ['a*'] })).toBeUndefined()
  expect(text({ tags: ['hr'] }, { tags: ['hr', 'b'] })).toBe('[redacted]')
  expect(text({ tags: ['hr'], tools: ['demo.*'] })).toBeUndefined()
})

test('inputs are treated by their own schema and by patterns, not by pointers into results (OUT-3)', () => {
  const input: JsonSchema = {
    type: 'object',
    properties: { ssn: { type: 'string', 'x-classification': 'pii' }, a: { type: 'string' } },
  }
  const treatment = treatmentOf(
    [redact({ classifications: ['pii'], patterns: ['\\d{16}'], pointers: ['/a'] })],
    { input },
  )
  expect(treatment?.input({ ssn: '123', a: 'card 4111111111111111 of 123' })).toEqual({
    ssn: '[redacted]',
    a: 'card [redacted] of [redacted]',
  })
})

test('issues do not quote what is protected (OUT-3)', () => {
  const schema = typed({ type: 'object', 'x-classification': 'pii' })
  const issue = (pointer: string) => ({ pointer, code: 'wrong_type', message: 'found the string "555-1234"' })
  const treatment = treatmentOf([redact({ classifications: ['pii'], patterns: ['\\d{3}-\\d{4}'] })], {
    input: schema,
  })
  expect(treatment?.issues([issue('/v'), issue('/v/deep'), issue('/w')], 'input')).toEqual([
    { pointer: '/v', code: 'wrong_type', message: 'The value does not fit, and may not be shown.' },
    { pointer: '/v/deep', code: 'wrong_type', message: 'The value does not fit, and may not be shown.' },
    { pointer: '/w', code: 'wrong_type', message: 'found the string "[redacted]"' },
  ])
})

test('where nothing is owed there is nothing to ask (OUT-3)', () => {
  expect(compileObligations([], { tenant: 'local', compilePattern })).toBeUndefined()
  expect(treatmentOf([redact({ patterns: ['x'], tools: ['other.*'] })])).toBeUndefined()
})
