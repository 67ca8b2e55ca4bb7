import { SetupError, createRuntime, defineTool, type ManifestSpec, type ToolDefinition } from 'handrail'
import { expect, test } from 'vitest'
import { makeSource, makeTool } from '../../support/make-tool.ts'
import { makeFolder, openRuntime, personSaying } from '../../support/project.ts'

async function definitionOf(spec: Partial<ManifestSpec> = {}): Promise<ToolDefinition | undefined> {
  const runtime = await openRuntime({
    tools: [defineTool({ name: 'demo.tool', description: 'Is a tool.', ...spec, run: () => null })],
  })
  return runtime.registry.find('demo.tool')?.definition
}

async function refusal(spec: Partial<ManifestSpec>): Promise<SetupError> {
  const tool = defineTool({ name: 'demo.tool', description: 'Is a tool.', ...spec, run: () => null })
  const error: unknown = await createRuntime({ project: makeFolder(), tools: [tool] }).catch(
    (thrown: unknown) => thrown,
  )
  if (error instanceof SetupError) return error
  throw new Error(`This manifest was taken: ${JSON.stringify(spec)}`)
}

const pointers = (error: SetupError) => error.issues.map((issue) => issue.pointer.replace('/demo.tool', ''))

test('a manifest keeps all that it says (DEF-1, DEF-2, DEF-3, DEF-4, DEF-5, DEF-6, DEF-7)', async () => {
  const manifest = {
    title: 'Pay a bill',
    version: '2.1.0-beta.1+build.5',
    tags: ['money', 'dangerous'],
    metadata: { owner: 'shop', level: 3 },
    permission: 'write',
    sideEffect: 'process',
    safety: 'high',
    consent: { required: true, validForMs: 60_000, scope: 'once' },
    scopes: [{ resource: 'shop:bills', action: 'write' }],
    capabilities: {
      fs: { read: ['project'], write: ['tmp'] },
      net: { hosts: ['*.example.com'] },
      proc: { executables: ['node'] },
      browser: true,
      tmp: true,
      secrets: ['SHOP_TOKEN'],
    },
    limits: { timeoutMs: 1, maxBytesIn: 2, maxBytesOut: 3, maxFiles: 4, maxDepth: 5, concurrency: 6 },
    concurrency: 'serial',
    idempotency: 'keyed',
    keyFrom: 'call',
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
    compatibility: { providers: ['anthropic'], models: ['claude-*'] },
    deprecations: [{ what: 'field "amount"', since: '2.0.0', advice: 'Use "total".' }],
  } as const satisfies Partial<ManifestSpec>
  expect(await definitionOf(manifest)).toMatchObject(manifest)
})

test.each<[string, object, string]>([
  ['no function', {}, '/run: The field "run" is missing; give the function that does what the tool is for.'],
  ['a text in its place', { run: 'run' }, '/run: "run" has to be a function.'],
  ['a plan that is not one', { run: () => 1, plan: {} }, '/plan: "plan" has to be a function.'],
])('a tool with %s is refused where it is defined (DEF-1)', (_, spec, told) => {
  const define = () => defineTool({ name: 'demo.tool', description: 'Is a tool.', ...spec } as never)
  expect(define).toThrow(told)
})

test.each<[Partial<ManifestSpec>, string, string]>([
  [
    { permission: 'readonly', capabilities: { fs: { read: ['project'] } } },
    '/capabilities/fs/read',
    'set "sideEffect" to "read" or "network" or "browser", or remove it.',
  ],
  [
    { capabilities: { fs: { write: ['project'] } } },
    '/scopes',
    'such as { resource: "project", action: "write" }.',
  ],
  [
    { sideEffect: 'write', capabilities: { fs: { read: ['./docs'] } } },
    '/capabilities/fs/read/0',
    '"./docs" is not a root: give an absolute path, "project", "tmp", or "*"',
  ],
])(
  'what contradicts itself in %o is refused with what to write (DEF-4, DEF-6)',
  async (spec, pointer, told) => {
    const error = await refusal(spec)
    expect(pointers(error)).toEqual([pointer])
    expect(error.message).toContain(told)
  },
)

test('a path of a tool that declares no directories is refused with what it lacks (DEF-6)', async () => {
  const tool = defineTool({
    name: 'demo.note',
    description: 'Writes a note.',
    input: { type: 'object' },
    plan: (_, { project }) => ({ operations: [{ kind: 'fs.write', path: `${project}/a` }] }),
    run: () => null,
  })
  const runtime = await openRuntime({ tools: [tool] })
  const { error } = await runtime.session().call('demo.note')
  expect(error).toMatchObject({
    reason: 'write_outside_allowed_roots',
    message: expect.stringContaining('Its tool declares none under "capabilities.fs.write"') as string,
  })
})

test('a name and a description are enough; the rest has cautious defaults (DEF-1 to DEF-7)', async () => {
  const definition = await definitionOf()
  expect(definition).toMatchObject({
    name: 'demo.tool',
    title: 'tool',
    version: '1.0.0',
    tags: [],
    metadata: {},
    permission: 'write',
    sideEffect: 'write',
    safety: 'medium',
    consent: { required: true },
    scopes: [],
    capabilities: {
      fs: { read: [], write: [] },
      net: { hosts: [] },
      proc: { executables: [] },
      browser: false,
      tmp: false,
      secrets: [],
    },
    limits: { maxBytesIn: 2_097_152, maxBytesOut: 8_388_608, maxFiles: 8, maxDepth: 4 },
    concurrency: 'parallel',
    idempotency: 'none',
    annotations: {},
    compatibility: { providers: [], models: [] },
    deprecations: [],
    needs: [],
  })
  expect(definition?.outputSchema).toBeUndefined()
  expect(definition?.keyFrom).toBeUndefined()
})

test.each<[Partial<ManifestSpec>, Partial<ToolDefinition>]>([
  [{ permission: 'readonly' }, { sideEffect: 'none', safety: 'low', consent: { required: false } }],
  [
    { permission: 'readonly', sideEffect: 'read' },
    { safety: 'low', consent: { required: false } },
  ],
  [
    { permission: 'readonly', sideEffect: 'network' },
    { safety: 'medium', consent: { required: false } },
  ],
  [
    { permission: 'readonly', tags: ['dangerous'] },
    { safety: 'high', consent: { required: true } },
  ],
  [{ permission: 'write' }, { sideEffect: 'write', safety: 'medium', consent: { required: true } }],
])('the defaults of %j follow from it (DEF-2, DEF-3)', async (spec, expected) => {
  expect(await definitionOf(spec)).toMatchObject(expected)
})

test.each<[string, Partial<ManifestSpec>, readonly string[]]>([
  ['readonly with a write side effect', { permission: 'readonly', sideEffect: 'write' }, ['/permission']],
  ['readonly with a process side effect', { permission: 'readonly', sideEffect: 'process' }, ['/permission']],
  [
    'readonly with a filesystem side effect',
    { permission: 'readonly', sideEffect: 'filesystem' },
    ['/permission'],
  ],
  ['high safety without consent', { safety: 'high', consent: { required: false } }, ['/consent/required']],
  [
    'a host without a network side effect',
    { permission: 'readonly', capabilities: { net: { hosts: ['a.example.com'] } } },
    ['/capabilities/net'],
  ],
  [
    'a program without a process side effect',
    { capabilities: { proc: { executables: ['ls'] } } },
    ['/capabilities/proc'],
  ],
  ['a browser without a browser side effect', { capabilities: { browser: true } }, ['/capabilities/browser']],
  [
    'a read root without any side effect',
    { permission: 'readonly', capabilities: { fs: { read: ['*'] } } },
    ['/capabilities/fs/read'],
  ],
  [
    'a write root of a reading tool',
    {
      permission: 'readonly',
      sideEffect: 'read',
      scopes: [{ resource: 'file', action: 'write' }],
      capabilities: { fs: { write: ['*'] } },
    },
    ['/capabilities/fs/write'],
  ],
  ['keyed without a key', { idempotency: 'keyed' }, ['/keyFrom']],
  ['keyed by a field that is not required', { idempotency: 'keyed', keyFrom: '/order' }, ['/keyFrom']],
  ['a key without keyed', { keyFrom: 'call' }, ['/keyFrom']],
  [
    'a write capability without a write scope',
    {
      sideEffect: 'filesystem',
      scopes: [{ resource: 'file', action: 'read' }],
      capabilities: { fs: { write: ['*'] } },
    },
    ['/scopes'],
  ],
  ['a write side effect of low safety', { sideEffect: 'write', safety: 'low' }, ['/safety']],
  ['a process side effect of low safety', { sideEffect: 'process', safety: 'low' }, ['/safety']],
  ['readOnlyHint on a write tool', { annotations: { readOnlyHint: true } }, ['/annotations/readOnlyHint']],
])('%s is refused (DEF-8)', async (_, spec, expected) => {
  const error = await refusal(spec)
  expect(error.code).toBe('inconsistent_manifest')
  expect(pointers(error)).toEqual(expected)
})

test('a manifest with every issue hears of all of them at once, each with its pointer (DEF-8)', async () => {
  const tool = defineTool({
    name: 'demo..tool',
    version: '1.0',
    description: ' ',
    permission: 'readonly',
    sideEffect: 'process',
    safety: 'low',
    consent: { required: false },
    capabilities: { fs: { write: ['*'] } },
    limits: { timeoutMs: 0, maxFiles: 1.5, maxBytesIn: -1 },
    idempotency: 'keyed',
    keyFrom: '/order',
    rawInput: { type: 'object', properties: { a: { oneOf: [] } as never, b: { type: 'text' as never } } },
    output: { $ref: '#/x' } as never,
    run: () => null,
  })
  const error: unknown = await createRuntime({ project: makeFolder(), tools: [tool] }).catch(
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(SetupError)
  const { code, issues, message } = error as SetupError
  expect(code).toBe('invalid_definition')
  const found = issues.map((issue) => issue.pointer.replace('/demo..tool', ''))
  expect(new Set(found)).toEqual(
    new Set([
      '/name',
      '/version',
      '/description',
      '/inputSchema/properties/a/oneOf',
      '/inputSchema/properties/b/type',
      '/outputSchema/$ref',
      '/permission',
      '/safety',
      '/scopes',
      '/limits/timeoutMs',
      '/limits/maxFiles',
      '/limits/maxBytesIn',
      '/keyFrom',
    ]),
  )
  for (const pointer of found) expect(message).toContain(pointer)
})

test('the issues of several tools come together, and no tool is registered (DEF-8)', async () => {
  const runtime = await openRuntime()
  const tools = [
    makeTool('a.fine'),
    makeTool('b.bad', { safety: 'high', consent: { required: false } }),
    makeTool('c.bad', { permission: 'readonly', sideEffect: 'write' }),
  ]
  await expect(runtime.register(tools)).rejects.toMatchObject({
    code: 'inconsistent_manifest',
    issues: [{ pointer: '/b.bad/consent/required' }, { pointer: '/c.bad/permission' }],
  })
  expect(runtime.registry.size).toBe(0)
})

test.each(['1', '1.0', 'v1.0.0', '01.0.0', '1.0.0 ', '1.0.0-', 'latest', ''])(
  '%j is not a version (DEF-1)',
  async (version) => {
    expect(pointers(await refusal({ version }))).toEqual(['/version'])
  },
)

test.each(['0.0.0', '1.2.3', '1.0.0-alpha.1', '1.0.0+build.7', '10.20.30-rc.1+5'])(
  '%j is a version (DEF-1)',
  async (version) => {
    expect((await definitionOf({ version }))?.version).toBe(version)
  },
)

test.each<[string, object, string]>([
  ['an unknown permission', { permission: 'read-only' }, '/permission'],
  ['an unknown side effect', { sideEffect: 'writes' }, '/sideEffect'],
  ['an unknown safety', { safety: 'harmless' }, '/safety'],
  ['an unknown concurrency', { concurrency: 'sometimes' }, '/concurrency'],
  ['an unknown idempotency', { idempotency: 'yes' }, '/idempotency'],
  ['an unknown consent scope', { consent: { required: true, scope: 'forever' } }, '/consent/scope'],
  ['a consent without its requirement', { consent: {} }, '/consent/required'],
  ['tags that are no list', { tags: 'dangerous' }, '/tags'],
  ['a tag that is not text', { tags: [1] }, '/tags/0'],
  ['a description that is not text', { description: 5 }, '/description'],
  ['an unknown limit', { limits: { timeoutMS: 5 } }, '/limits/timeoutMS'],
  ['an unknown capability', { capabilities: { gpu: true } }, '/capabilities/gpu'],
  ['a misspelt capability', { capabilities: { net: { host: ['a'] } } }, '/capabilities/net/host'],
  ['an unknown hint', { annotations: { readonlyHint: true } }, '/annotations/readonlyHint'],
  ['a scope without an action', { scopes: [{ resource: 'file' }] }, '/scopes/0/action'],
  ['metadata that is not JSON', { metadata: { f: () => 1 } }, '/metadata/f'],
])('%s is refused, not guessed at (DEF-2, DEF-3, DEF-4, DEF-5, DEF-8)', async (_, spec, pointer) => {
  expect(pointers(await refusal(spec))).toEqual([pointer])
})

test('a field that no manifest has is refused where the tool is written (DEF-8)', () => {
  const spec = {
    name: 'demo.tool',
    description: 'Is a tool.',
    permision: 'readonly',
    capability: {},
    run: () => null,
  }
  expect(() => defineTool(spec as never)).toThrow(
    expect.objectContaining({
      code: 'invalid_definition',
      issues: [
        expect.objectContaining({ pointer: '/permision', message: expect.stringContaining('"permission"') }),
        expect.objectContaining({
          pointer: '/capability',
          message: expect.stringContaining('"capabilities"'),
        }),
      ],
    }),
  )
})

test.each(['definition is empty', 'schema is text', 'no capabilities'])(
  'a hand-made tool whose %s is refused, without a crash (DEF-8)',
  async (kind) => {
    const tool = makeTool('demo.tool')
    const { capabilities: _, ...rest } = tool.definition
    const definitions = {
      'definition is empty': {},
      'schema is text': { ...tool.definition, inputSchema: 'object' },
      'no capabilities': rest,
    }
    const given = { ...tool, definition: definitions[kind as keyof typeof definitions] as ToolDefinition }
    await expect(createRuntime({ project: makeFolder(), tools: [given] })).rejects.toMatchObject({
      code: 'invalid_definition',
    })
  },
)

test('a readonly tool whose permission is misspelt never runs as one (DEF-2)', async () => {
  const tool = makeTool('demo.tool')
  const given = { ...tool, definition: { ...tool.definition, permission: 'Write' as never } }
  const held = makeSource('mcp', 'mcp.evil', [given])
  const runtime = await openRuntime({ tools: [held], onError: () => {} })
  expect((await runtime.session().call('demo.tool')).error?.reason).toBe('tool_not_available')
})

test.each([
  [{}, undefined],
  [{ readOnlyHint: true }, { readOnlyHint: true }],
  [
    { destructiveHint: false, openWorldHint: true },
    { destructiveHint: false, openWorldHint: true },
  ],
  [{ idempotentHint: undefined as never }, undefined],
])('of the hints %j a model sees what is set (DEF-6)', async (annotations, shown) => {
  const runtime = await openRuntime({ tools: [makeTool('demo.tool', { annotations })] })
  const [tool] = runtime.session().tools()
  expect(tool?.annotations).toEqual(shown)
  expect('annotations' in (tool ?? {})).toBe(shown !== undefined)
})

test('a deprecated part advises the model before, and the caller after (DEF-7)', async () => {
  const deprecations = [{ what: 'shop.pay', since: '2.0.0', advice: 'Use shop.settle.' }]
  const runtime = await openRuntime({ tools: [makeTool('shop.pay', { deprecations })] })
  const session = runtime.session()
  expect(session.tools()[0]?.description).toContain('Deprecated: shop.pay since 2.0.0: Use shop.settle.')
  expect((await session.call('shop.pay')).metadata.deprecated).toBe('Use shop.settle.')
})

test('the limits of a manifest hold, below those of the runtime (DEF-5)', async () => {
  const sized = (limits: ManifestSpec['limits'] & {}) =>
    defineTool({
      name: 'demo.sized',
      description: 'Gives back.',
      permission: 'readonly',
      limits,
      input: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
      run: ({ text }) => text.repeat(10),
    })
  const callOf = async (limits: ManifestSpec['limits'] & {}, text: string) => {
    const runtime = await openRuntime({
      tools: [sized(limits)],
      limits: { maxBytesIn: 500, maxBytesOut: 4_000 },
    })
    return (await runtime.session().call('demo.sized', { text })).error?.reason
  }
  expect(await callOf({}, 'x')).toBeUndefined()
  expect(await callOf({ maxBytesIn: 100 }, 'x'.repeat(101))).toBe('input_too_large')
  expect(await callOf({ maxBytesIn: 1_000 }, 'x'.repeat(501))).toBe('input_too_large')
  expect(await callOf({ maxBytesOut: 1_000 }, 'x'.repeat(101))).toBe('output_too_large')
  expect(await callOf({ maxBytesOut: 100_000 }, 'x'.repeat(200))).toBeUndefined()
  expect(await callOf({ maxBytesOut: 100_000 }, 'x'.repeat(480))).toBe('output_too_large')
})

test('a required scope and consent never show to the model, and reach the person (DEF-3)', async () => {
  const person = personSaying('deny')
  const runtime = await openRuntime({
    tools: [makeTool('shop.pay', { permission: 'write', tags: ['dangerous', 'money'] })],
    approve: person.approve,
  })
  await runtime.session().call('shop.pay')
  expect(person.asked).toMatchObject([
    { tool: 'shop.pay', dangerous: true, tags: ['dangerous', 'money'], suggested: 'deny' },
  ])
})
