import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { type } from 'arktype'
import { SetupError, createRuntime, defineTool, type JsonObject, type Tool } from 'handrail'
import * as v from 'valibot'
import { expect, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import { makeFolder, openRuntime } from '../../support/project.ts'

const manifest = { name: 'demo.tool', description: 'Is a tool.', permission: 'readonly' } as const

async function call(tool: Tool, input: unknown) {
  const runtime = await openRuntime({ tools: [tool] })
  return runtime.session().call('demo.tool', input)
}

interface Read {
  path: string
  mode: 'text' | 'lines'
  limit: number
  tags?: string[] | undefined
}

const zodTool = defineTool({
  ...manifest,
  input: z.object({
    path: z.string().min(1).describe('Which file.'),
    mode: z.enum(['text', 'lines']).default('text'),
    limit: z.int().min(1).max(100).default(10),
    tags: z.array(z.string()).optional(),
  }),
  run(input) {
    expectTypeOf(input).toEqualTypeOf<Read>()
    return input as unknown as JsonObject
  },
})

const valibotSchema = v.object({
  path: v.pipe(v.string(), v.minLength(1), v.description('Which file.')),
  mode: v.optional(v.picklist(['text', 'lines']), 'text'),
  limit: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(100)), 10),
  tags: v.optional(v.array(v.string())),
})

const valibotTool = defineTool({
  ...manifest,
  input: valibotSchema,
  run(input) {
    expectTypeOf(input).toEqualTypeOf<Read>()
    return input as unknown as JsonObject
  },
})

const wrappedValibotTool = defineTool({
  ...manifest,
  input: toStandardJsonSchema(valibotSchema),
  run(input) {
    expectTypeOf(input.limit).toEqualTypeOf<number>()
    return input as unknown as JsonObject
  },
})

const arkTool = defineTool({
  ...manifest,
  input: type({
    path: type('string >= 1').describe('Which file.'),
    mode: "'text' | 'lines' = 'text'",
    limit: '1 <= number.integer <= 100 = 10',
    'tags?': 'string[]',
  }),
  run(input) {
    expectTypeOf(input.path).toEqualTypeOf<string>()
    expectTypeOf(input.mode).toEqualTypeOf<'text' | 'lines'>()
    expectTypeOf(input.limit).toEqualTypeOf<number>()
    expectTypeOf(input.tags).toEqualTypeOf<string[] | undefined>()
    return input as unknown as JsonObject
  },
})

const jsonTool = defineTool({
  ...manifest,
  input: {
    type: 'object',
    properties: {
      path: { type: 'string', minLength: 1, description: 'Which file.' },
      mode: { enum: ['text', 'lines'], default: 'text' },
      limit: { type: 'integer', minimum: 1, maximum: 100, default: 10 },
      tags: { type: 'array', items: { type: 'string' } },
    },
    required: ['path'],
  },
  run(input) {
    expectTypeOf(input.path).toEqualTypeOf<string>()
    expectTypeOf(input.mode).toEqualTypeOf<'text' | 'lines'>()
    expectTypeOf(input.limit).toEqualTypeOf<number>()
    expectTypeOf(input.tags).toEqualTypeOf<string[] | undefined>()
    return input as unknown as JsonObject
  },
})

const tools: [string, Tool][] = [
  ['zod 4', zodTool],
  ['Valibot', valibotTool],
  ['Valibot as Standard JSON Schema', wrappedValibotTool],
  ['ArkType', arkTool],
  ['JSON Schema', jsonTool],
]

test.each(tools)('%s: the model sees JSON Schema, closed at the top (SDK-2)', (_, tool) => {
  const { inputSchema } = tool.definition
  expect(inputSchema).toMatchObject({
    type: 'object',
    properties: {
      path: { type: 'string', minLength: 1 },
      mode: { enum: expect.arrayContaining(['text', 'lines']) },
      limit: { type: 'integer', minimum: 1, maximum: 100 },
      tags: { type: 'array', items: { type: 'string' } },
    },
    required: ['path'],
    additionalProperties: false,
  })
  expect(inputSchema.properties?.['path']?.description).toContain('Which file.')
  expect(JSON.stringify(inputSchema)).not.toMatch(/\$schema|~standard|vendor/)
})

test.each(tools)(
  '%s: defaults are filled in, and the tool gets what it declared (SDK-2)',
  async (_, tool) => {
    expect((await call(tool, { path: 'a.txt' })).data).toEqual({ path: 'a.txt', mode: 'text', limit: 10 })
    const full = { path: 'a.txt', mode: 'lines', limit: 3, tags: ['x'] }
    expect((await call(tool, full)).data).toEqual(full)
  },
)

test.each(tools)(
  '%s: every issue with its pointer, and the tool does not run (SDK-2, SCHEMA-3)',
  async (_, tool) => {
    const result = await call(tool, { path: '', mode: 'both', limit: 0, tags: ['ok', 7], extra: true })
    expect(result.error).toMatchObject({
      code: 'SCHEMA.VALIDATION_FAILED',
      reason: 'invalid_input',
      actor: 'model',
      next: 'fix_input',
    })
    expect(result.error?.issues?.map((issue) => issue.pointer).toSorted()).toEqual([
      '/extra',
      '/limit',
      '/mode',
      '/path',
      '/tags/1',
    ])
  },
)

const even = (n: number) => n % 2 === 0

const refining: [string, () => Tool][] = [
  [
    'zod 4',
    () =>
      defineTool({
        ...manifest,
        input: z.object({
          n: z.number().refine(even, 'must be even'),
          at: z.string().transform((text) => text.length),
        }),
        run: ({ n, at }) => n + at,
      }),
  ],
  [
    'Valibot',
    () =>
      defineTool({
        ...manifest,
        input: v.object({
          n: v.pipe(v.number(), v.check(even, 'must be even')),
          at: v.pipe(
            v.string(),
            v.transform((text) => text.length),
          ),
        }),
        run: ({ n, at }) => n + at,
      }),
  ],
  [
    'ArkType',
    () =>
      defineTool({
        ...manifest,
        input: type({
          n: type('number').narrow((n, context) => even(n) || context.mustBe('even')),
          at: type('string').pipe((text) => text.length),
        }),
        run: ({ n, at }) => n + at,
      }),
  ],
]

test.each(refining)('%s: its own refinements and transforms run (SDK-2)', async (_, make) => {
  const tool = make()
  expect((await call(tool, { n: 2, at: 'abc' })).data).toBe(5)
  const refused = await call(tool, { n: 3, at: 'abc' })
  expect(refused.error).toMatchObject({
    code: 'SCHEMA.VALIDATION_FAILED',
    reason: 'invalid_input',
    issues: [{ pointer: '/n' }],
  })
  expect(refused.error?.message).toContain('even')
})

test('a refinement that throws is a fault of the input, not a crash (SDK-4)', async () => {
  const input = z.object({
    n: z.number().refine(() => {
      throw new Error('the check broke')
    }),
  })
  const result = await call(defineTool({ ...manifest, input, run: () => 'ran' }), { n: 1 })
  expect(result.ok).toBe(false)
  expect(result.error?.code).toBe('SCHEMA.VALIDATION_FAILED')
})

test('zod and snake_case together: issues name what the model wrote (SDK-8, SCHEMA-3)', async () => {
  const tool = defineTool({
    ...manifest,
    wireCase: 'snake_case',
    input: z.object({ startLine: z.int().refine(even, 'must be even'), filePath: z.string() }),
    run(input) {
      expectTypeOf(input).toEqualTypeOf<{ startLine: number; filePath: string }>()
      return input.startLine
    },
  })
  expect((await call(tool, { start_line: 2, file_path: 'a' })).data).toBe(2)
  const wrong = await call(tool, { start_line: 'x' })
  expect(wrong.error?.issues?.map((issue) => issue.pointer).toSorted()).toEqual(['/file_path', '/start_line'])
  const refused = await call(tool, { start_line: 3, file_path: 'a' })
  expect(refused.error?.issues?.map((issue) => issue.pointer)).toEqual(['/start_line'])
})

test('an output schema may be of a library too, and holds (SDK-2, SCHEMA-3)', async () => {
  const tool = (data: JsonObject) =>
    defineTool({ ...manifest, output: z.object({ total: z.int() }), run: () => data })
  expect(tool({}).definition.outputSchema).toMatchObject({
    type: 'object',
    properties: { total: { type: 'integer' } },
  })
  expect((await call(tool({ total: 3 }), {})).data).toEqual({ total: 3 })
  expect((await call(tool({ total: 'three' }), {})).error).toMatchObject({
    code: 'SCHEMA.VALIDATION_FAILED',
    reason: 'invalid_output',
    issues: [{ pointer: '/total' }],
  })
})

const run = () => 'ran'

test.each<[string, Tool]>([
  ['zod', defineTool({ ...manifest, input: z.object({ n: z.string().regex(/^ab+$/i) }), run })],
  [
    'zod with two patterns',
    defineTool({ ...manifest, input: z.object({ n: z.string().regex(/^ab+$/i).regex(/b$/i) }), run }),
  ],
  ['ArkType', defineTool({ ...manifest, input: type({ n: /^ab+$/i }), run })],
])('%s: a pattern with a flag means what the library means (SDK-2)', async (_, tool) => {
  expect((await call(tool, { n: 'ABB' })).data).toBe('ran')
  expect((await call(tool, { n: 'AC' })).error?.reason).toBe('invalid_input')
})

test('a pattern without flags is shown to the model (SDK-2)', () => {
  const input = z.object({ n: z.string().regex(/^ab+$/) })
  const { definition } = defineTool({ ...manifest, input, run: () => null })
  expect(definition.inputSchema.properties?.['n']).toEqual({ type: 'string', pattern: '^ab+$' })
})

test('a field that other libraries have is answered with the one that is meant (SDK-1)', () => {
  const spec = { ...manifest, parameters: z.object({}), execute: () => null }
  // Not the type of a tool, which is what is tried.
  expect(() => defineTool(spec as unknown as Parameters<typeof defineTool>[0])).toThrow(
    expect.objectContaining({
      issues: [
        expect.objectContaining({ message: 'There is no field "parameters"; here it is "input".' }),
        expect.objectContaining({ message: 'There is no field "execute"; here it is "run".' }),
      ],
    }),
  )
})

test.each<[string, () => Tool]>([
  ['a file', () => defineTool({ ...manifest, input: z.object({ at: z.file() }), run: () => null })],
  ['a Date', () => defineTool({ ...manifest, input: z.object({ at: z.date() }), run: () => null })],
  [
    'a Map',
    () =>
      defineTool({ ...manifest, input: z.object({ at: z.map(z.string(), z.string()) }), run: () => null }),
  ],
  ['a bigint', () => defineTool({ ...manifest, input: z.object({ at: z.bigint() }), run: () => null })],
])('%s cannot be said as JSON Schema, and is refused where the tool is written (SDK-2)', (_, make) => {
  expect(make).toThrow(SetupError)
  expect(make).toThrow(expect.objectContaining({ code: 'unsupported_schema' }))
  expect(make).toThrow(/\. Use types that JSON has/)
})

test('text as the whole input is refused at the latest at registration, with its pointer (SDK-2)', async () => {
  const make = () => defineTool({ ...manifest, input: z.string(), run: () => null })
  const refused = async () => createRuntime({ project: makeFolder(), tools: [make()] })
  const error: unknown = await refused().catch((thrown: unknown) => thrown)
  expect(error).toMatchObject({ code: 'unsupported_schema' })
  expect((error as SetupError).issues.length).toBeGreaterThan(0)
})

test('what a library says of an output beyond its JSON Schema counts too (SCHEMA-3, SDK-2)', async () => {
  const even = z.object({ evenNumber: z.number().refine((n) => n % 2 === 0, 'must be even') })
  const give = (name: string, wireCase: 'as-written' | 'snake_case') =>
    defineTool({
      name,
      description: 'Gives a number.',
      permission: 'readonly',
      input: { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] },
      output: even,
      wireCase,
      run: ({ n }) => ({ evenNumber: n }),
    })
  const runtime = await openRuntime({ tools: [give('a.plain', 'as-written'), give('a.snake', 'snake_case')] })
  const session = runtime.session()
  for (const [tool, field] of [
    ['a.plain', 'evenNumber'],
    ['a.snake', 'even_number'],
  ] as const) {
    expect((await session.call(tool, { n: 2 })).data).toEqual({ [field]: 2 })
    expect((await session.call(tool, { n: 3 })).error).toMatchObject({
      code: 'SCHEMA.VALIDATION_FAILED',
      reason: 'invalid_output',
      actor: 'developer',
      issues: [{ pointer: `/${field}`, message: 'must be even' }],
    })
  }
})

test('a schema of an output that throws or waits is the fault of its tool (SCHEMA-3)', async () => {
  const throwing = z.object({ n: z.number() }).refine(() => {
    throw new Error('broken check')
  })
  const waiting = z.object({ n: z.number() }).refine(async () => true)
  const session = (
    await openRuntime({
      tools: [throwing, waiting].map((output, index) =>
        defineTool({
          name: `a.tool_${index}`,
          description: 'Gives.',
          permission: 'readonly',
          output,
          run: () => ({ n: 1 }),
        }),
      ),
    })
  ).session()
  for (const name of ['a.tool_0', 'a.tool_1'])
    expect((await session.call(name)).error).toMatchObject({ reason: 'invalid_output' })
})
