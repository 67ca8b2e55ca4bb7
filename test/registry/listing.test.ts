import { codeTools, defineTool, type ToolResult } from 'handrail'
import { expect, test } from 'vitest'
import { makeSource, makeTool } from '../support/make-tool.ts'
import { makeFolder, openRuntime } from '../support/project.ts'

const kinds = ['code', 'mcp', 'agent', 'task', 'declarative'] as const

test.each(kinds)(
  'a tool of a source of kind %s ends as the same definition, in the same pipeline (REG-1)',
  async (kind) => {
    const tool = makeTool('demo.greet')
    const plain = await openRuntime({ tools: [tool] })
    const runtime = await openRuntime({ tools: [makeSource(kind, `${kind}.one`, [makeTool('demo.greet')])] })
    const registered = runtime.registry.find('demo.greet')
    expect(registered?.definition).toEqual(plain.registry.find('demo.greet')?.definition)
    expect(registered?.digest).toBe(plain.registry.find('demo.greet')?.digest)
    expect(registered?.source).toBe(`${kind}.one`)
    expect((await runtime.session().call('demo.greet')).data).toBe('demo.greet')
    expect(runtime.session().tools()).toEqual(plain.session().tools())
  },
)

const secretive = defineTool({
  name: 'shop.pay',
  title: 'Pay',
  description: 'Pays a bill.',
  tags: ['tag-of-the-operator'],
  metadata: { owner: 'metadata-of-the-operator' },
  permission: 'write',
  sideEffect: 'process',
  safety: 'high',
  consent: { required: true, scope: 'once', validForMs: 4711 },
  scopes: [{ resource: 'resource-of-a-scope', action: 'write' }],
  capabilities: {
    fs: { read: ['/root-to-read'], write: ['/root-to-write'] },
    net: { hosts: ['host.to.reach'] },
    proc: { executables: ['program-to-run'] },
    secrets: ['NAME_OF_A_SECRET'],
  },
  limits: { timeoutMs: 12_345 },
  input: { type: 'object', properties: { amount: { type: 'integer' } }, required: ['amount'] },
  run: () => null,
})

test.each(['canonical', 'compatible'] as const)(
  'the %s presentation never shows permission, consent, capabilities or scopes (REG-5)',
  async (presentation) => {
    const runtime = await openRuntime({ tools: [secretive] })
    const [shown] = runtime.session().tools({ presentation })
    expect(shown).toEqual({
      tool: 'shop.pay',
      name: 'shop.pay',
      title: 'Pay',
      description: 'Pays a bill.',
      inputSchema: {
        type: 'object',
        properties: { amount: { type: 'integer' } },
        required: ['amount'],
        additionalProperties: false,
      },
      presentation: 'canonical',
    })
  },
)

test('no built-in shows a model more than its name, description, schemas and hints (REG-5)', async () => {
  const runtime = await openRuntime({ tools: [codeTools()] })
  const known = [
    'tool',
    'name',
    'title',
    'description',
    'inputSchema',
    'outputSchema',
    'annotations',
    'presentation',
  ]
  for (const presentation of ['canonical', 'compatible'] as const)
    for (const shown of runtime.session().tools({ presentation }))
      expect(Object.keys(shown).filter((field) => !known.includes(field))).toEqual([])
})

function nearestOf(result: ToolResult): string[] {
  const nearest = result.error?.data?.['nearest']
  return Array.isArray(nearest) ? nearest.map(String) : []
}

test.each([
  ['code.readfile', 'code.read_file'],
  ['read_file', 'code.read_file'],
  ['Read_File', 'code.read_file'],
  ['code__read_file', 'code.read_file'],
  ['code.wrte_file', 'code.write_file'],
  ['functions.code.search', 'code.search'],
])('an unknown tool %s points to the nearest name %s (REG-8)', async (asked, nearest) => {
  const runtime = await openRuntime({ tools: [codeTools()] })
  const result = await runtime.session().call(asked, {})
  expect(result).toMatchObject({
    ok: false,
    tool: asked,
    error: { code: 'POLICY.DENY_TOOL', reason: 'tool_not_available', data: { because: 'unknown' } },
  })
  expect(nearestOf(result)[0]).toBe(nearest)
  expect(result.error?.message).toContain(`"${nearest}"`)
  expect(JSON.stringify(result.content)).toContain(nearest)
})

test('nothing near means no suggestion, and what the session may not use is never suggested (REG-8)', async () => {
  const runtime = await openRuntime({ tools: [codeTools()] })
  const far = await runtime.session().call('zzz.qqq')
  expect(far.error?.data).toEqual({ because: 'unknown', nearest: [] })
  expect(far.error?.message).toContain('List the tools')
  const narrowed = await runtime.session({ disallowedTools: ['code.read_file'] }).call('code.readfile')
  expect(nearestOf(narrowed)).not.toContain('code.read_file')
})

test('a model corrects itself from the answer (REG-8)', async () => {
  const runtime = await openRuntime({ project: makeFolder({ 'a.txt': 'a' }), tools: [codeTools()] })
  const session = runtime.session()
  const wrong = await session.call('code.reed_file', { path: 'a.txt' })
  const [better] = nearestOf(wrong)
  expect((await session.call(better ?? '', { path: 'a.txt' })).ok).toBe(true)
})

test('tools are listed in name order, whatever order they came in, byte for byte the same (REG-9)', async () => {
  const names = ['b.z', 'b.a', 'a.z', 'B.a', 'b.a_b', 'b.a-b', 'b.a.b', 'b.A', 'a10.x', 'a9.x']
  const list = async (order: readonly string[]) => {
    const runtime = await openRuntime({
      tools: order.map((name) =>
        makeTool(name, { annotations: { openWorldHint: true, readOnlyHint: true } }),
      ),
    })
    return runtime.session()
  }
  const one = await list(names)
  const other = await list(names.toReversed())
  const bytewise = names.toSorted((left, right) => Buffer.compare(Buffer.from(left), Buffer.from(right)))
  expect(one.tools().map((tool) => tool.name)).toEqual(bytewise)
  expect(JSON.stringify(other.tools())).toBe(JSON.stringify(one.tools()))
})

test('listing again gives the same bytes, after calls and for later sessions (REG-9)', async () => {
  const runtime = await openRuntime({ tools: [codeTools()], project: makeFolder({ 'a.txt': 'a' }) })
  const session = runtime.session()
  const before = JSON.stringify(session.tools())
  await session.call('code.read_file', { path: 'a.txt' })
  await session.call('no.such_tool')
  expect(JSON.stringify(session.tools())).toBe(before)
  expect(JSON.stringify(runtime.session().tools())).toBe(before)
})

test('a session keeps the tools it started with; later ones see what came (REG-9)', async () => {
  const runtime = await openRuntime({ tools: [makeTool('b.two')] })
  const early = runtime.session()
  await runtime.register([makeTool('a.one')])
  expect(early.tools().map((tool) => tool.tool)).toEqual(['b.two'])
  expect((await early.call('a.one')).error?.reason).toBe('tool_not_available')
  expect(
    runtime
      .session()
      .tools()
      .map((tool) => tool.tool),
  ).toEqual(['a.one', 'b.two'])
})

test('nobody can change a definition once it is registered (REG-5)', async () => {
  const tool = makeTool('demo.greet')
  const runtime = await openRuntime({ tools: [tool] })
  const definition = tool.definition as unknown as { permission: string; capabilities: { tmp: boolean } }
  expect(() => (definition.permission = 'write')).toThrow(TypeError)
  expect(() => (definition.capabilities.tmp = true)).toThrow(TypeError)
  const session = runtime.session()
  const [shown] = session.tools() as unknown as [{ inputSchema: { type: string } }]
  shown.inputSchema.type = 'string'
  for (const each of [session, runtime.session()])
    expect(each.tools()[0]?.inputSchema).toMatchObject({ type: 'object' })
})
