import { chmodSync, mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { SetupError, codeTools, createRuntime, defineTool, type RuntimeOptions } from 'handrail'
import { expect, test } from 'vitest'
import { makeTool } from '../support/make-tool.ts'
import { makeFolder, openRuntime, personSaying } from '../support/project.ts'

async function refusal(options: object): Promise<SetupError> {
  const error: unknown = await createRuntime(options as RuntimeOptions).catch((thrown: unknown) => thrown)
  if (error instanceof SetupError) return error
  throw new Error(`These options were taken: ${JSON.stringify(options)}`)
}

const pointers = (error: SetupError) => error.issues.map((issue) => issue.pointer)

test('no options are needed: the current folder, no tools, the safe defaults', async () => {
  const runtime = await openRuntime({ project: process.cwd() })
  expect(runtime.project).toBe(process.cwd())
  expect(runtime.session().tools()).toEqual([])
  expect(runtime.session().mode).toBe('default')
})

test.each([
  ['projct', 'project'],
  ['tool', 'tools'],
  ['readRoot', 'readRoots'],
  ['sensitivepaths', 'sensitivePaths'],
  ['disallowed_tools', 'disallowedTools'],
  ['approver', 'approve'],
  ['onevent', 'onEvent'],
])('the unknown option %s is refused, and %s is named', async (given, meant) => {
  const error = await refusal({ project: makeFolder(), [given]: [] })
  expect(error.code).toBe('invalid_options')
  expect(error.issues).toMatchObject([{ pointer: `/${given}`, code: 'unknown_field' }])
  expect(error.message).toContain(`did you mean "${meant}"?`)
})

test.each(['host', 'sandbox-runtime'] as const)(
  'what has to be held back is refused in the sandbox %s, which holds nothing back (FS-43)',
  async (kind) => {
    const error = await refusal({ project: makeFolder(), sandbox: { kind, hold: 'always' } })
    expect(error.issues).toMatchObject([{ pointer: '/sandbox/hold', code: 'wrong_value' }])
    expect(error.message).toContain(`In the sandbox "${kind}", no command can be held back.`)
  },
)

test.each<[string, unknown, RegExp]>([
  ['approve', { decision: 'allow_once' }, /"approve" has to be a function\./],
  ['onError', 'log', /"onError" has to be a function\./],
  ['tools', makeTool('demo.a'), /"tools" has to be a list\./],
  ['hooks', {}, /"hooks" has to be a list\./],
  [
    'store',
    './store.db',
    /Give "memory", \{ path \} with the path of a SQLite file, or a store of your own\./,
  ],
])('the option %s of another kind is refused with what it has to be', async (field, given, told) => {
  const error = await refusal({ project: makeFolder(), [field]: given, zzz: 1 })
  expect(pointers(error)).toEqual(['/zzz', `/${field}`])
  expect(error.message).toMatch(told)
})

test('an approver of a session that is not a function is refused (PERM-3)', async () => {
  const runtime = await openRuntime()
  const open = () => runtime.session({ approve: { decision: 'allow_once' } as never })
  expect(open).toThrow('/approve: "approve" has to be a function.')
})

test.each([null, 'x', 7, []])('what is called with %j in the place of options says so', async (given) => {
  const none = given as never
  const runtime = await openRuntime()
  const session = runtime.session()
  for (const [name, call] of Object.entries({
    createRuntime: () => createRuntime(none),
    defineTool: () => defineTool(none),
    'runtime.session': () => runtime.session(none),
    'runtime.run': () => runtime.run(none),
    'runtime.reload': () => runtime.reload(none),
    'session.tools': () => session.tools(none),
  }))
    await expect((async () => call())(), name).rejects.toMatchObject({
      code: 'invalid_options',
      message: expect.stringMatching(`^${name} takes an object, and was called with (null|a )`),
    })
})

test('an option that resembles none is refused without a guess', async () => {
  const error = await refusal({ project: makeFolder(), zzz: 1 })
  expect(error.issues).toMatchObject([{ pointer: '/zzz', code: 'unknown_field' }])
  expect(error.message).not.toContain('did you mean')
})

test('every issue of the options, the policy and the tools is named at once', async () => {
  const error = await refusal({
    project: '/no/such/folder',
    polcy: {},
    readRoots: ['docs', '/no/such/root', '~/none'],
    writeRoots: ['/no/such/place'],
    tmp: 'yes',
    env: ['PATH', 7],
    limits: { callsPerSession: 0, maxTimeout: 5, maxBytesIn: 'big' },
    allowedTools: 'code.*',
    policy: { mode: 'yolo', rules: [{ effect: 'permit' }], network: { default: 'maybe' } },
    projectConfiguration: { rules: [{ effect: 'deny', tool: ['x'] }], allowedTools: ['*'] },
    hooks: [{ name: 'no function' }, { on: 'Before', command: [] }],
    duplicates: 'last',
    home: makeFolder(),
    tools: [makeTool('greet'), makeTool('demo.a', { safety: 'high', consent: { required: false } }), {}],
  })
  expect(error.code).toBe('invalid_options')
  expect(pointers(error).toSorted()).toEqual(
    [
      '/project',
      '/polcy',
      '/readRoots/0',
      '/readRoots/1',
      '/readRoots/2',
      '/writeRoots/0',
      '/tmp',
      '/env/1',
      '/limits/callsPerSession',
      '/limits/maxTimeout',
      '/limits/maxBytesIn',
      '/allowedTools',
      '/policy/mode',
      '/policy/rules/0/effect',
      '/policy/network/default',
      '/projectConfiguration/rules/0/tool',
      '/projectConfiguration/allowedTools',
      '/hooks/0',
      '/hooks/1/on',
      '/hooks/1/command',
      '/duplicates',
      '/tools/2',
      '/greet/name',
      '/demo.a/consent/required',
    ].toSorted(),
  )
  for (const pointer of pointers(error)) expect(error.message).toContain(pointer)
})

test('a missing project says so, and what to do', async () => {
  const gone = join(makeFolder(), 'gone')
  expect(await refusal({ project: gone })).toMatchObject({ code: 'project_missing' })
  expect((await refusal({ project: gone })).message).toContain(
    `"${gone}" does not exist. Create it, or name another one.`,
  )
  const file = join(makeFolder({ 'a.txt': 'a' }), 'a.txt')
  expect((await refusal({ project: file })).message).toContain('is not a folder')
})

test.each([
  ['relative', 'docs', 'not an absolute path'],
  ['missing', '/no/such/root', 'does not exist'],
  ['empty', '', 'give at least 1'],
])('a %s root is refused', async (_, root, message) => {
  for (const field of ['readRoots', 'writeRoots']) {
    const error = await refusal({ project: makeFolder(), [field]: [root] })
    expect(pointers(error)).toContain(`/${field}/0`)
    expect(error.message).toContain(message)
  }
})

test('roots may begin with ~, which is the home that was given', async () => {
  const home = makeFolder({ 'notes/a.txt': 'hello' })
  const runtime = await openRuntime({ home, readRoots: ['~/notes'], tools: [codeTools()] })
  const session = runtime.session()
  expect((await session.call('code.read_file', { path: join(home, 'notes/a.txt') })).ok).toBe(true)
  expect((await session.call('code.read_file', { path: join(home, 'other.txt') })).error?.reason).toBe(
    'path_outside_roots',
  )
})

test('a read root is read only, a write root takes writes after asking, others neither', async () => {
  const [readable, writable, other] = [makeFolder({ a: 'a' }), makeFolder({ a: 'a' }), makeFolder({ a: 'a' })]
  const runtime = await openRuntime({
    readRoots: [readable],
    writeRoots: [writable],
    tools: [codeTools()],
    approve: personSaying('allow_once').approve,
  })
  const session = runtime.session()
  const read = async (root: string) => (await session.call('code.read_file', { path: join(root, 'a') })).ok
  const write = async (root: string) =>
    (await session.call('code.write_file', { path: join(root, 'b'), content: 'b' })).ok
  expect([await read(readable), await read(writable), await read(other)]).toEqual([true, true, false])
  expect([await write(readable), await write(writable), await write(other)]).toEqual([false, true, false])
})

test('a root that begins alike is another root', async () => {
  const parent = makeFolder({ 'root-evil/a': 'a' })
  mkdirSync(join(parent, 'root'))
  const runtime = await openRuntime({ readRoots: [join(parent, 'root')], tools: [codeTools()] })
  const result = await runtime.session().call('code.read_file', { path: join(parent, 'root-evil/a') })
  expect(result.error?.reason).toBe('path_outside_roots')
})

test('the project and roots may be links; what counts is where they lead', async () => {
  const real = makeFolder({ 'a.txt': 'a' })
  const links = makeFolder()
  symlinkSync(real, join(links, 'project'))
  const runtime = await openRuntime({ project: join(links, 'project'), tools: [codeTools()] })
  expect(runtime.project).toBe(real)
  expect((await runtime.session().call('code.read_file', { path: 'a.txt' })).ok).toBe(true)
})

test('the temporary directory is closed unless it is opened', async () => {
  const folder = makeFolder({ 'a.txt': 'a' })
  const read = async (tmp: boolean) => {
    const runtime = await openRuntime({ project: process.cwd(), tmp, tools: [codeTools()] })
    return (await runtime.session().call('code.read_file', { path: join(folder, 'a.txt') })).ok
  }
  expect(await read(false)).toBe(false)
  expect(await read(true)).toBe(true)
})

test('options are never written to, and may be frozen', async () => {
  const options: RuntimeOptions = {
    project: makeFolder(),
    home: makeFolder(),
    readRoots: Object.freeze([makeFolder()]),
    limits: Object.freeze({ callsPerSession: 3 }),
    policy: Object.freeze({
      rules: Object.freeze([Object.freeze({ effect: 'deny', tools: ['x.y'] } as const)]),
    }),
    tools: Object.freeze([makeTool('demo.a')]),
  }
  const before = JSON.stringify(options)
  const runtime = await openRuntime(Object.freeze(options))
  await runtime.session().call('demo.a')
  expect(JSON.stringify(options)).toBe(before)
})

test('a limit that is undefined means the default', async () => {
  const runtime = await openRuntime({
    limits: { maxBytesIn: undefined as never, maxTimeoutMs: 1_000 },
    tools: [makeTool('demo.a')],
  })
  const { budget } = await runtime.session().preflight('demo.a')
  expect(budget).toMatchObject({ maxBytesIn: 2_097_152, timeoutMs: 1_000 })
})

test.each([null, 7, 'tool', {}, { run: () => null }, { definition: {} }])(
  '%j is not a tool, neither at the start nor later',
  async (given) => {
    expect(pointers(await refusal({ project: makeFolder(), tools: [given] }))).toEqual(['/tools/0'])
    const runtime = await openRuntime()
    await expect(runtime.register([given as never])).rejects.toMatchObject({
      issues: [{ pointer: '/tools/0' }],
    })
  },
)

test('commands see only the variables that are allowed', async () => {
  const project = makeFolder({ 'env.sh': '#!/bin/sh\nenv\n' })
  chmodSync(join(project, 'env.sh'), 0o755)
  process.env['HANDRAIL_TEST_OPEN'] = 'open'
  process.env['HANDRAIL_TEST_CLOSED'] = 'closed'
  try {
    const runtime = await openRuntime({
      project,
      env: ['HANDRAIL_TEST_OPEN'],
      tools: [codeTools()],
      approve: personSaying('allow_once').approve,
    })
    const text = JSON.stringify(await runtime.session().call('code.run_command', { argv: ['./env.sh'] }))
    expect(text).toContain('HANDRAIL_TEST_OPEN=open')
    expect(text).not.toContain('HANDRAIL_TEST_CLOSED')
  } finally {
    delete process.env['HANDRAIL_TEST_OPEN']
    delete process.env['HANDRAIL_TEST_CLOSED']
  }
})

test('a closed runtime opens no session and says so', async () => {
  const runtime = await createRuntime({ project: makeFolder() })
  await runtime.close()
  await runtime.close()
  expect(() => runtime.session()).toThrow(expect.objectContaining({ code: 'closed' }))
})
