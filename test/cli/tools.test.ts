import { existsSync } from 'node:fs'
import { createRuntime, type JsonSchema, type Tool } from 'handrail'
import { expect, test } from 'vitest'
import { handrail, jsonOf, makePlace } from '../support/command-line.ts'
import { makeSource, makeTool } from '../support/make-tool.ts'

interface Listed {
  name: string
  tool: string
  title: string
  description: string
  input_schema: { type: string; properties: Record<string, unknown> }
}

function withInput(tool: Tool, inputSchema: JsonSchema): Tool {
  return { ...tool, definition: { ...tool.definition, inputSchema } }
}

const codeTools = [
  'code.copy_path',
  'code.delete_path',
  'code.edit_file',
  'code.edit_notebook',
  'code.enter_worktree',
  'code.exit_worktree',
  'code.glob',
  'code.list_dir',
  'code.lsp',
  'code.move_path',
  'code.read_file',
  'code.run_command',
  'code.search',
  'code.write_file',
]

test('lists the effective set in a stable order, and makes nothing (REG-9)', async () => {
  const place = makePlace()
  const first = await handrail(place, ['tools'])
  expect(first.code).toBe(0)
  const rows = first.stdout.trimEnd().split('\n')
  expect(rows.at(-1)).toBe(`${rows.length - 1} tools`)
  const names = rows.slice(0, -1).map((row) => row.split(' ')[0])
  expect(names).toEqual(expect.arrayContaining(codeTools))
  expect(names).toEqual([...names].sort((left = '', right = '') => (left < right ? -1 : 1)))
  expect((await handrail(place, ['tools'])).stdout).toBe(first.stdout)
  expect(existsSync(place.home)).toBe(false)
})

test('--json gives what a model sees: name, description, input schema, and nothing of permissions (REG-5)', async () => {
  const listed = jsonOf<Listed[]>(await handrail(makePlace(), ['tools', '--json']))
  const read = listed.find((tool) => tool.name === 'code.read_file')
  expect(read).toMatchObject({ tool: 'code.read_file', input_schema: { type: 'object' } })
  expect(read?.input_schema.properties).toHaveProperty('start_line')
  expect(read?.description).toMatch(/line/)
  for (const tool of listed)
    for (const key of ['permission', 'consent', 'capabilities', 'safety', 'scopes'])
      expect(tool).not.toHaveProperty(key)
})

test('--presentation compatible shows the names that models already know', async () => {
  const listed = jsonOf<Listed[]>(
    await handrail(makePlace(), ['tools', '--json', '--presentation', 'compatible']),
  )
  const names = new Map(listed.map((tool) => [tool.tool, tool.name]))
  expect(names.get('code.read_file')).toBe('Read')
  expect(names.get('code.write_file')).toBe('Write')
})

test('configuration and project take tools away, and the role counts (POOL-1, POOL-2)', async () => {
  const place = makePlace(
    { 'handrail.json': JSON.stringify({ disallowedTools: ['code.search'] }) },
    { 'config.json': { allowedTools: ['code.*'], disallowedTools: ['code.run_command'] } },
  )
  const { stdout } = await handrail(place, ['tools', '--role', 'worker'])
  expect(stdout).not.toMatch(/code\.search|code\.run_command/)
  expect(stdout).toContain('code.read_file')
})

const namesIn = (stdout: string) =>
  stdout
    .trimEnd()
    .split('\n')
    .slice(0, -1)
    .map((row) => row.split(' ')[0])

test.each([
  [['--tag', 'dangerous'], ['code.run_command']],
  [
    ['--group', 'code', '--keyword', 'edit'],
    ['code.edit_file', 'code.edit_notebook', 'code.write_file'],
  ],
  [
    ['--capability', 'proc'],
    ['code.enter_worktree', 'code.exit_worktree', 'code.lsp', 'code.run_command'],
  ],
  [['--capability', 'net'], ['web.fetch']],
  [
    ['--safety', 'high'],
    ['code.exit_worktree', 'code.run_command'],
  ],
  [
    ['--side-effect', 'process'],
    ['code.enter_worktree', 'code.exit_worktree', 'code.run_command', 'job.stop'],
  ],
  [['--search', 'undo a change', '--group', 'code', '--keyword', 'notebook'], ['code.edit_notebook']],
  [['--state', 'paused'], []],
])('tools %j finds %j (REG-4)', async (options, names) => {
  const { code, stdout } = await handrail(makePlace(), ['tools', ...options])
  expect([code, namesIn(stdout)]).toEqual([0, names])
})

test('a tool that a person pauses is denied by every later command, until they enable it (REG-2)', async () => {
  const place = makePlace({ 'a.txt': 'a' })
  const read = () => handrail(place, ['call', 'code.read_file', '{"path":"a.txt"}'])
  const paused = await handrail(place, ['tools', 'pause', 'code.read_file', '--reason', 'audit'])
  expect([paused.code, paused.stdout]).toEqual([0, 'code.read_file is paused for all tenants.\n'])
  const denied = await read()
  expect(denied.code).toBe(3)
  expect(denied.stdout + denied.stderr).toContain('POLICY.DENY_TOOL (paused)')
  expect(namesIn((await handrail(place, ['tools'])).stdout)).not.toContain('code.read_file')
  const listed = await handrail(place, ['tools', '--state', 'paused'])
  expect(listed.stdout).toContain('code.read_file  (paused) ')
  const explained = await handrail(place, ['explain', 'code.read_file', '{"path":"a.txt"}'])
  expect([explained.code, explained.stdout.includes('(paused)')]).toEqual([3, true])
  const again = await handrail(place, ['tools', 'pause', 'code.read_file'])
  expect([again.code, again.stderr.split(':')[1]?.trim()]).toEqual([2, 'invalid_transition'])
  expect((await handrail(place, ['tools', 'enable', 'code.read_file'])).code).toBe(0)
  expect((await read()).code).toBe(0)
})

test('a tool is paused for one tenant, or deprecated with advice that models see (REG-2, REG-3)', async () => {
  const place = makePlace({ 'a.txt': 'a' })
  await handrail(place, ['tools', 'pause', 'code.search', '--tenant', 'acme'])
  const tenants = await Promise.all(
    [[], ['--tenant', 'acme']].map((more) => handrail(place, ['tools', ...more])),
  )
  expect(tenants.map(({ stdout }) => namesIn(stdout).includes('code.search'))).toEqual([true, false])
  const deprecated = await handrail(place, [
    'tools',
    'deprecate',
    'code.glob',
    '--reason',
    'Use code.search.',
  ])
  expect(deprecated.code).toBe(0)
  const listed = jsonOf<(Listed & { state?: string })[]>(await handrail(place, ['tools', '--json']))
  const glob = listed.find(({ tool }) => tool === 'code.glob')
  expect(glob?.state).toBe('deprecated')
  expect(glob?.description).toMatch(/\nDeprecated: Use code.search.$/)
  const unknown = await handrail(place, ['tools', 'pause', 'code.serch'])
  expect(unknown.code).toBe(2)
  expect(unknown.stderr).toContain('Did you mean "code.search"')
})

test('a command pauses a tool of a program that runs, and its next call is denied (REG-2)', async () => {
  const place = makePlace()
  const runtime = await createRuntime({
    project: place.project,
    home: place.user,
    tools: [makeTool('shop.pay')],
    store: { path: place.store },
  })
  try {
    const session = runtime.session()
    expect((await session.call('shop.pay')).ok).toBe(true)
    expect((await handrail(place, ['tools', 'pause', 'shop.pay'])).code).toBe(0)
    expect((await session.call('shop.pay')).error?.reason).toBe('paused')
    expect((await handrail(place, ['tools', 'enable', 'shop.pay'])).code).toBe(0)
    expect((await session.call('shop.pay')).ok).toBe(true)
  } finally {
    await runtime.close()
  }
})

test('a person sees which changes of a schema break callers (DEF-9, DEF-10)', async () => {
  const place = makePlace()
  const open = (input: JsonSchema) =>
    createRuntime({
      project: place.project,
      home: place.user,
      tools: [makeSource('mcp', 'mcp.weather', [withInput(makeTool('mcp.weather.today'), input)])],
      store: { path: place.store },
    })
  const city = { city: { type: 'string' } } as const
  await (await open({ type: 'object', properties: city })).close()
  const changed = {
    type: 'object',
    properties: { ...city, key: { type: 'string' } },
    required: ['key'],
  } as const
  await (await open(changed)).close()
  const { stdout } = await handrail(place, ['tools', 'approve'])
  expect(stdout).toMatch(
    /inputSchema\n {4}breaking \/properties\/key: .+\n {4}\/properties\/key\n {6}new  \{"type":"string"\}/,
  )
})

test('a person sees what changed in a definition, and approves it for a program that runs (DEF-10)', async () => {
  const place = makePlace()
  const open = (description: string) =>
    createRuntime({
      project: place.project,
      home: place.user,
      tools: [makeSource('mcp', 'mcp.weather', [makeTool('mcp.weather.today', { description })])],
      store: { path: place.store },
    })
  await (await open('Kind.')).close()
  const runtime = await open('Kinder.\u001b[2J')
  try {
    const session = runtime.session()
    expect((await session.call('mcp.weather.today')).error?.reason).toBe('definition_pending')
    const waiting = await handrail(place, ['tools', 'approve'])
    expect(waiting.stdout).toContain('to let it be used: handrail tools approve mcp.weather.today --digest ')
    expect(waiting.stdout).toContain('description\n    was  "Kind."\n    is   "Kinder.\\u001b[2J"')
    const other = await handrail(place, ['tools', 'approve', 'mcp.weather.today', '--digest', 'other'])
    expect([other.code, other.stderr.includes('invalid_transition')]).toEqual([2, true])
    const approved = await handrail(place, ['tools', 'approve', 'mcp.weather.today'])
    expect([approved.code, approved.stdout.includes('may be used')]).toEqual([0, true])
    expect((await session.call('mcp.weather.today')).ok).toBe(true)
    expect((await handrail(place, ['tools', 'approve'])).stdout).toBe('0 definitions wait\n')
  } finally {
    await runtime.close()
  }
})
