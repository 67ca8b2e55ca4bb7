import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020, type AnySchemaObject } from 'ajv/dist/2020.js'
import { codeTools, createRuntime, declarativeTools } from 'handrail'
import { expect, test } from 'vitest'
import { packageRoot } from '../support/command-line.ts'
import { openDeclared, texts, toolFile, writeTools } from '../support/declared-tools.ts'
import { makeFolder, openRuntime } from '../support/project.ts'

const good = toolFile({ name: 'demo.good', permission: 'readonly', command: 'echo', args: ['fine'] })

test('every *.json of the folder is a tool with all that the file says (DECL-1)', async () => {
  const said = {
    name: 'shop.stock',
    title: 'Stock',
    version: '2.1.0',
    description: 'Says what is in stock.',
    input_schema: texts('item'),
    output_schema: { type: 'object', properties: { left: { type: 'integer' } } },
    output: 'json',
    permission: 'write',
    tags: ['shop', 'dangerous'],
    command_type: 'exec',
    command: 'cat',
    args: ['--', '{{item}}'],
    working_dir: '.',
    env_allowlist: ['SHOP'],
    timeout_ms: 5_000,
    stdout_limit_bytes: 1_000,
    stderr_limit_bytes: 500,
  }
  const { runtime, issues } = await openDeclared({
    'stock.json': said,
    'good.json': good,
    'notes.txt': 'no tool',
  })
  expect(issues).toEqual([])
  expect(runtime.registry.list().map(({ definition }) => definition.name)).toEqual([
    'demo.good',
    'shop.stock',
  ])
  expect(runtime.registry.find('shop.stock')).toMatchObject({
    source: 'declarative',
    definition: {
      title: 'Stock',
      version: '2.1.0',
      description: said.description,
      inputSchema: said.input_schema,
      outputSchema: said.output_schema,
      permission: 'write',
      sideEffect: 'process',
      safety: 'high',
      consent: { required: true },
      tags: ['shop', 'dangerous'],
      capabilities: { proc: { executables: ['cat'] }, net: { hosts: [] }, secrets: [] },
      limits: { timeoutMs: 5_000 },
    },
  })
  expect(runtime.registry.find('demo.good')?.definition).toMatchObject({
    version: '1.0.0',
    permission: 'readonly',
    sideEffect: 'read',
    safety: 'low',
    consent: { required: false },
  })
})

test('a folder that is not there has no tools, and one that is a file is told (DECL-1)', async () => {
  expect(declarativeTools({ dir: join(makeFolder(), 'none') }).list()).toEqual([])
  const file = join(makeFolder({ tools: 'text' }), 'tools')
  const source = declarativeTools({ dir: file })
  expect(source.list()).toEqual([])
  expect(source.quarantined?.()).toMatchObject([
    { tool: 'tools', message: expect.stringContaining('ENOTDIR') },
  ])
})

/** Faulty fields, and where each issue is. */
const wrong: readonly (readonly [string, Record<string, unknown>, readonly string[]])[] = [
  ['an unknown field', { colour: 'red' }, ['/colour']],
  [
    'several at once',
    { colour: 1, description: 5, timeout_ms: 0 },
    ['/timeout_ms', '/description', '/colour'],
  ],
  ['issues of the form and of the meaning', { title: 1, command: 'git log' }, ['/title', '/command']],
  ['no description', { description: undefined }, ['/description']],
  ['a name of one part', { name: 'tool' }, ['/name']],
  ['a name with a space', { name: 'demo.my tool' }, ['/name']],
  ['a name that would pollute', { name: 'demo.__proto__' }, ['/name']],
  ['a version that is none', { version: '1' }, ['/version']],
  ['an unknown permission', { permission: 'all' }, ['/permission']],
  ['an unknown type of command', { command_type: 'bash' }, ['/command_type']],
  ['an unknown output', { output: 'xml' }, ['/output']],
  ['an input that is not an object', { input_schema: { type: 'string' } }, ['/input_schema/type']],
  ['a schema beyond the subset', { input_schema: { type: 'object', oneOf: [] } }, ['/input_schema/oneOf']],
  [
    'properties that are none',
    { input_schema: { type: 'object', properties: null }, args: ['{{a}}'] },
    ['/input_schema/properties', '/args/0'],
  ],
  ['a schema of text', { output: 'text', output_schema: { type: 'object' } }, ['/output_schema']],
  [
    'an output schema beyond the subset',
    { output: 'json', output_schema: { $ref: '#' } },
    ['/output_schema/$ref'],
  ],
  ['a pattern as a program', { command: '*' }, ['/command']],
  ['a relative path that could be of the project', { command: 'bin/run' }, ['/command']],
  ['a template as a program', { command: '{{a}}', input_schema: texts('a') }, ['/command', '/command']],
  ['a NUL in an argument', { args: ['a\0b'] }, ['/args/0']],
  ['half a letter in an argument', { args: ['a', '\ud800'] }, ['/args/1']],
  ['a description of blanks', { description: ' \n' }, ['/description']],
  [
    'a schema with issues of every kind',
    { input_schema: { type: 'object', properties: { a: null }, required: 5 }, args: ['{{a}}'] },
    ['/input_schema/properties/a', '/input_schema/required', '/args/0', '/args/0'],
  ],
  ['a number as an argument', { args: [5] }, ['/args/0']],
  ['an argument of three parts', { args: [['-a', '{{b}}', 'c']] }, ['/args/0']],
  ['a folder of the home', { working_dir: '~/x' }, ['/working_dir']],
  [
    'a variable that is none',
    { env_allowlist: ['A=B', 'OK', 'a b'] },
    ['/env_allowlist/0', '/env_allowlist/2'],
  ],
  ['a host that is a URL', { hosts: ['https://a.example'] }, ['/hosts/0']],
  [
    'a limit over the highest',
    { timeout_ms: 600_001, stdout_limit_bytes: 8_388_609 },
    ['/timeout_ms', '/stdout_limit_bytes'],
  ],
]

test.each(wrong)('%s is named, and the other tools are there (DECL-1)', async (_what, fields, pointers) => {
  const { runtime, issues, events } = await openDeclared({ 'a.json': toolFile(fields), 'good.json': good })
  expect(issues).toHaveLength(1)
  for (const pointer of pointers) expect(issues[0]).toContain(` ${pointer}: `)
  expect(issues[0]?.match(/ \/[A-Za-z_$/0-9]*: /g)).toHaveLength(pointers.length)
  expect(events).toMatchObject([{ type: 'tool_quarantined', tool: 'a.json' }])
  expect((await runtime.session().call('demo.good')).data).toBe('fine\n')
  expect(runtime.registry.size).toBe(1)
})

const bad: readonly (readonly [string, string | Uint8Array, RegExp])[] = [
  ['an empty file', '', /is empty/],
  ['a file of blanks', ' \n\t\n', /is empty/],
  ['a byte order mark', `\ufeff${JSON.stringify(toolFile())}`, /byte order mark/],
  ['text in UTF-16', Buffer.from(JSON.stringify(toolFile()), 'utf16le'), /not valid JSON/],
  [
    'bytes that are no UTF-8',
    Buffer.concat([Buffer.from('{"name": "'), Buffer.from([0xc3, 0x28]), Buffer.from('"}')]),
    /not UTF-8/,
  ],
  ['half of a file', JSON.stringify(toolFile()).slice(0, 40), /not valid JSON/],
  ['two values', '{}{}', /not valid JSON/],
  ['a list', '[]', /Found an array/],
  ['null', 'null', /Found null/],
  ['a key that pollutes', '{"__proto__": {"name": "a.b"}, "name": "a.b"}', /\/__proto__: /],
  ['10 MB', `{"name": "${'a'.repeat(10_000_000)}"}`, /10000012 bytes/],
  ['deep nesting', `{"input_schema": ${'['.repeat(100_000)}${']'.repeat(100_000)}}`, /\//],
]

test.each(bad)('%s is quarantined and spoils no other (DECL-1)', async (_what, content, message) => {
  const { runtime, issues } = await openDeclared({ 'a.json': content, 'good.json': good })
  expect(issues).toEqual([expect.stringMatching(message)])
  expect(issues[0]).toContain('a.json')
  expect(issues[0]?.length).toBeLessThan(2_000)
  expect((await runtime.session().call('demo.good')).data).toBe('fine\n')
})

test('a folder, a link, a broken link and a pipe of the name of a tool are no tools (DECL-1)', async () => {
  const elsewhere = makeFolder({ 'linked.json': JSON.stringify(toolFile({ name: 'demo.linked' })) })
  const folder = join(makeFolder(), 'tools')
  writeTools(folder, { 'good.json': good })
  mkdirSync(join(folder, 'folder.json'))
  symlinkSync(join(elsewhere, 'linked.json'), join(folder, 'link.json'))
  symlinkSync(join(elsewhere, 'gone.json'), join(folder, 'broken.json'))
  execFileSync('mkfifo', [join(folder, 'pipe.json')])
  const source = declarativeTools({ dir: folder })
  expect(source.list().map(({ definition }) => definition.name)).toEqual(['demo.good'])
  expect(
    source
      .quarantined?.()
      .map(({ tool, message }) => [tool, /is a link|not a regular file/.exec(message)?.[0]]),
  ).toEqual([
    ['broken.json', 'is a link'],
    ['folder.json', 'not a regular file'],
    ['link.json', 'is a link'],
    ['pipe.json', 'not a regular file'],
  ])
})

test('of two files with one name the first has it, and both are named (DECL-1, NAME-2)', async () => {
  const { runtime, issues, folder } = await openDeclared({
    'b.json': toolFile({ name: 'demo.same', permission: 'readonly', command: 'echo', args: ['b'] }),
    'a.json': toolFile({ name: 'demo.same', permission: 'readonly', command: 'echo', args: ['a'] }),
    'c.json': good,
  })
  expect((await runtime.session().call('demo.same')).data).toBe('a\n')
  expect(issues).toHaveLength(1)
  expect(issues[0]).toContain(join(folder, 'a.json'))
  expect(issues[0]).toContain(join(folder, 'b.json'))
  expect(runtime.registry.size).toBe(2)
})

test.each(['error', 'keep-first', 'replace'] as const)(
  'a file never takes the name of a built-in tool over, also with "%s" unless asked (DECL-1, NAME-3)',
  async (duplicates) => {
    const { runtime, events } = await openDeclared(
      { 'a.json': toolFile({ name: 'code.read_file' }), 'good.json': good },
      { tools: [codeTools()], duplicates },
    )
    const { source } = runtime.registry.find('code.read_file') ?? {}
    expect(source).toBe(duplicates === 'replace' ? 'declarative' : 'builtin.code')
    const type = duplicates === 'error' ? 'tool_quarantined' : 'duplicate_tool'
    expect(events).toMatchObject([{ type, tool: 'code.read_file' }])
    expect(runtime.registry.find('demo.good')).toBeDefined()
  },
)

test('a changed file is in force at the next start without an approval, and the evidence says so (DECL-1, DEF-10)', async () => {
  const store = { path: join(makeFolder(), 'store.db') }
  const folder = join(makeFolder(), 'tools')
  const start = async (file: Record<string, unknown>) => {
    writeTools(folder, { 'a.json': file })
    const runtime = await openRuntime({ store, tools: [declarativeTools({ dir: folder })] })
    const { data } = await runtime.session().call('demo.good')
    const notes = [...runtime.store.records({ kind: 'note' })].map(
      ({ text }) => JSON.parse(text) as { event: string },
    )
    await runtime.close()
    return { data, events: notes.map(({ event }) => event) }
  }
  expect(await start(good)).toEqual({ data: 'fine\n', events: ['tool_registered'] })
  expect(await start(good)).toEqual({ data: 'fine\n', events: ['tool_registered'] })
  expect(await start({ ...good, args: ['other'] })).toEqual({
    data: 'other\n',
    events: ['tool_registered', 'tool_updated'],
  })
})

test('the published schema takes what is taken, and refuses what it can say is wrong (DECL-1)', () => {
  const schema = JSON.parse(
    readFileSync(join(packageRoot, 'schemas', 'tool.json'), 'utf8'),
  ) as AnySchemaObject
  const validate = new Ajv2020({ strict: true, allowUnionTypes: true, strictTypes: false }).compile(schema)
  expect([validate(good), validate.errors]).toEqual([true, null])
  expect(validate({ ...good, $schema: 'https://example.com/tool.json' })).toBe(true)
  for (const fields of [{ colour: 'red' }, { name: 'tool' }, { timeout_ms: 0 }, { args: [5] }])
    expect(validate({ ...good, ...fields })).toBe(false)
})

test('a model never sees the command (DECL-1, REG-5)', async () => {
  const { runtime } = await openDeclared({ 'good.json': good })
  const [shown] = runtime.session().tools()
  expect(shown?.name).toBe('demo.good')
  expect(JSON.stringify(shown)).not.toMatch(/echo|fine|command/)
})

test('unknown options of the source do not make it read a project', async () => {
  const project = makeFolder({
    'tools/a.json': JSON.stringify(toolFile()),
    '.handrail/tools/a.json': JSON.stringify(toolFile()),
  })
  const runtime = await createRuntime({ project, home: makeFolder(), tools: [codeTools()] })
  expect(runtime.registry.find('demo.tool')).toBeUndefined()
  await runtime.close()
})
