import { expect, test } from 'vitest'
import { fixtureTool, makeFixtureServer, openUpstreams } from '../support/upstreams.ts'
import { serveWeb } from '../support/web-server.ts'

/** What is wrong with each of these inputs of "echo", whose schema is this: `ok`, or the reason. */
async function reasonsOf(inputSchema: object, inputs: readonly object[]): Promise<string[]> {
  const server = makeFixtureServer([fixtureTool('echo', { inputSchema })])
  const runtime = await openUpstreams({ it: server.file })
  const session = runtime.session()
  const results = await Promise.all(inputs.map((input) => session.call('mcp.it.echo', input)))
  await runtime.close()
  return results.map(({ error }) => error?.reason ?? 'ok')
}

const bad = 'invalid_input'

/** What a schema is of, the schema, inputs, and what becomes of a call with each. */
type Held = readonly [of: string, schema: object, inputs: readonly object[], reasons: readonly string[]]

/** An object schema that asks for something where another part of it holds. */
const branching = JSON.parse(
  '{"if":{"properties":{"kind":{"const":"file"}},"required":["kind"]},"then":{"required":["path"]},"else":{"required":["url"]}}',
) as object

const held: readonly Held[] = [
  [
    'local references, through others and around to themselves',
    {
      properties: { tree: { $ref: '#/$defs/node' }, old: { $ref: '#/definitions/old' } },
      $defs: {
        node: {
          type: 'object',
          properties: { value: { $ref: '#/$defs/value' }, next: { $ref: '#/$defs/node' } },
          required: ['value'],
        },
        value: { type: 'integer' },
      },
      definitions: { old: { enum: ['x'] } },
    },
    [
      { tree: { value: 1, next: { value: 2 } }, old: 'x' },
      { tree: { value: 1, next: { value: 'two' } } },
      { tree: { value: 1, next: {} } },
      { old: 'y' },
    ],
    ['ok', bad, bad, bad],
  ],
  [
    'references by anchor',
    { properties: { a: { $ref: '#named' } }, $defs: { one: { $anchor: 'named', type: 'boolean' } } },
    [{ a: true }, { a: 1 }],
    ['ok', bad],
  ],
  [
    'all, any, one and none of others',
    {
      properties: {
        all: { allOf: [{ type: 'integer' }, { minimum: 3 }] },
        any: { anyOf: [{ const: 'a' }, { type: 'object', required: ['b'] }] },
        one: { oneOf: [{ multipleOf: 2 }, { multipleOf: 3 }] },
        none: { not: { type: 'string' } },
      },
    },
    [
      { all: 3, any: { b: 1 }, one: 4, none: 1 },
      { all: 2 },
      { any: {} },
      { one: 6 },
      { one: 7 },
      { none: 'x' },
    ],
    ['ok', bad, bad, bad, bad, bad],
  ],
  [
    'what depends on something else',
    {
      properties: { kind: { type: 'string' } },
      ...branching,
      dependentRequired: { user: ['password'] },
      dependentSchemas: { port: { properties: { port: { maximum: 9 } } } },
    },
    [
      { kind: 'file', path: 'a' },
      { kind: 'file', url: 'a' },
      { kind: 'web', url: 'a' },
      { url: 'a', user: 'b' },
      { url: 'a', port: 10 },
    ],
    ['ok', bad, 'ok', bad, bad],
  ],
  [
    'names, tuples and what is left over',
    {
      patternProperties: { '^n_': { type: 'number' } },
      propertyNames: { maxLength: 6 },
      allOf: [{ properties: { known: {} } }],
      unevaluatedProperties: false,
      properties: {
        pair: { prefixItems: [{ type: 'string' }, { type: 'number' }], items: false },
        some: { contains: { const: 1 }, minContains: 2, maxContains: 2 },
      },
    },
    [
      { n_a: 1, known: 1, pair: ['a', 1], some: [1, 0, 1] },
      { n_a: 'x' },
      { n_abcdef: 1 },
      { stray: 1 },
      { pair: ['a', 1, 2] },
      { some: [1, 1, 1] },
    ],
    ['ok', bad, bad, bad, bad, bad],
  ],
]

test.each(held.map(([of, schema, inputs, reasons]) => ({ of, schema, inputs, reasons })))(
  'imported schemas are held to in full: $of (MCP-1, SCHEMA-2)',
  async ({ schema, inputs, reasons }) => {
    expect(await reasonsOf({ type: 'object', ...schema }, inputs)).toEqual(reasons)
  },
)

test('a schema of a result with references and choices is held to in full (MCP-1, SCHEMA-2)', async () => {
  const outputSchema = (of: object) => ({
    type: 'object',
    properties: { n: { $ref: '#/$defs/n' } },
    oneOf: [{ required: ['n'] }, { required: ['m'] }],
    $defs: { n: of },
  })
  const server = makeFixtureServer([
    fixtureTool('blocks', { outputSchema: outputSchema({ type: 'integer' }) }),
    fixtureTool('wrong', { outputSchema: outputSchema({ type: 'integer' }) }),
  ])
  const runtime = await openUpstreams({ it: server.file })
  const session = runtime.session()
  expect((await session.call('mcp.it.blocks')).data).toEqual({ n: 1 })
  expect((await session.call('mcp.it.wrong')).error?.reason).toBe('invalid_output')
})

test('a reference that leaves the schema is never fetched, wherever it stands and however it is written (MCP-1, SCHEMA-2)', async () => {
  const web = await serveWeb({ '/': '{}', '/x': '{}', '/x.json': '{}', '/deep/x.json': '{}' })
  const base = `http://127.0.0.1:${web.port}`
  const object = (more: object) => ({ type: 'object', ...more })
  const schemas: Readonly<Record<string, object>> = {
    direct: object({ properties: { a: { $ref: `${base}/x` } } }),
    fragment: object({ properties: { a: { $ref: `${base}/x#/$defs/a` } } }),
    based: object({ $id: `${base}/deep/root.json`, properties: { a: { $ref: 'x.json' } } }),
    dynamic: object({ properties: { a: { $dynamicRef: `${base}/x#a` } } }),
    hidden: object({ $defs: { a: { anyOf: [{ $ref: `${base}/x` }] } } }),
    file: object({ properties: { a: { $ref: 'file:///etc/passwd' } } }),
    relative: object({ properties: { a: { $ref: '../x.json' } } }),
  }
  const issues: string[] = []
  const meta = object({ $schema: `${base}/x`, properties: { a: { type: 'integer' } } })
  const server = makeFixtureServer([
    ...Object.entries(schemas).map(([name, inputSchema]) => fixtureTool(name, { inputSchema })),
    ...Object.entries(schemas).map(([name, outputSchema]) => fixtureTool(`out_${name}`, { outputSchema })),
    fixtureTool('environment', { inputSchema: meta }),
    fixtureTool('echo'),
  ])
  const runtime = await openUpstreams({ it: server.file }, { onError: ({ tool }) => issues.push(tool) })
  const session = runtime.session()
  const names = session.tools().map(({ tool }) => tool)
  const all = Object.keys(schemas).flatMap((name) => [`mcp.it.${name}`, `mcp.it.out_${name}`])
  expect([...issues].sort()).toEqual(expect.arrayContaining([...all].sort()))
  expect(names.filter((name) => all.includes(name))).toEqual([])
  expect(names).toContain('mcp.it.echo')
  await session.call('mcp.it.environment', { a: 1 })
  for (const name of all) expect((await session.call(name, { a: 1 })).ok).toBe(false)
  expect(web.hits).toEqual([])
})

test('schemas and inputs that are made to cost much are refused, and the others of the server work (MCP-1, SCHEMA-6)', async () => {
  const many = 20_000
  let deep: object = { type: 'string' }
  for (let level = 0; level < 500; level++) deep = { type: 'object', properties: { a: deep } }
  const doubling = Object.fromEntries(
    Array.from({ length: 40 }, (_, n) => [
      `d${n}`,
      { allOf: [{ $ref: `#/$defs/d${n + 1}` }, { $ref: `#/$defs/d${n + 1}` }] },
    ]),
  )
  const schemas: Readonly<Record<string, object>> = {
    deep: { type: 'object', properties: { a: deep } },
    wide: {
      type: 'object',
      properties: Object.fromEntries(Array.from({ length: many }, (_, n) => [`p${n}`, {}])),
    },
    enumerated: { type: 'object', properties: { a: { enum: Array.from({ length: many }, (_, n) => n) } } },
  }
  const issues: string[] = []
  const server = makeFixtureServer([
    ...Object.entries(schemas).map(([name, inputSchema]) => fixtureTool(name, { inputSchema })),
    fixtureTool('echo', {
      inputSchema: { type: 'object', properties: { a: { type: 'string', pattern: '^(a+)+$' }, text: {} } },
    }),
    fixtureTool('asked', {
      inputSchema: {
        type: 'object',
        properties: { a: { $ref: '#/$defs/a' } },
        $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } },
      },
    }),
    fixtureTool('others', {
      inputSchema: {
        type: 'object',
        properties: { a: { $ref: '#/$defs/d0' } },
        $defs: { ...doubling, d40: { type: 'integer' } },
      },
    }),
  ])
  const runtime = await openUpstreams({ it: server.file }, { onError: ({ tool }) => issues.push(tool) })
  const session = runtime.session()
  expect(issues).toEqual(expect.arrayContaining(Object.keys(schemas).map((name) => `mcp.it.${name}`)))
  const reasonOf = async (tool: string, input: object) =>
    (await session.call(`mcp.it.${tool}`, input)).error?.reason ?? 'ok'
  expect(await reasonOf('echo', { a: `${'a'.repeat(5_000)}!` })).toBe(bad)
  expect(await reasonOf('echo', { a: 'aaa', text: 'fits' })).toBe('ok')
  let nested: object = {}
  for (let level = 0; level < 5_000; level++) nested = { a: nested }
  expect(await reasonOf('echo', { text: nested })).toBe(bad)
  expect(await reasonOf('others', { a: 'no number' })).toBe(bad)
  expect(await reasonOf('others', { a: 1 })).toBe('ok')
  expect(await reasonOf('asked', { a: 1 })).toBe(bad)
  expect(await reasonOf('asked', {})).toBe('ok')
})
