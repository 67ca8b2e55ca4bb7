import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { codeTools, createRuntime, defineTool, type ManifestSpec, type Operation } from 'handrail'
import { expect, test } from 'vitest'
import { makeTool } from '../support/make-tool.ts'
import { makeFolder, openRuntime, personSaying } from '../support/project.ts'
import { startProcessorClock } from '../support/processor-clock.ts'

const allowAll = { rules: [{ effect: 'allow', tools: ['*'] }] } as const

/** A tool that plans these operations, with these capabilities. */
function planner(operations: readonly Operation[], capabilities: ManifestSpec['capabilities'] & {}) {
  const tool = makeTool('demo.plan', {
    permission: 'write',
    sideEffect: 'process',
    scopes: [{ resource: 'all', action: 'write' }],
    capabilities,
  })
  return { ...tool, plan: () => ({ operations }) }
}

const process: Operation = { kind: 'process', executable: '/usr/bin/ls', argv: ['ls'], cwd: '/' }
const net: Operation = { kind: 'net', host: 'api.example.com', url: 'https://api.example.com/' }

test.each<[string, Operation, ManifestSpec['capabilities'] & {}, string | undefined]>([
  ['a host, nothing declared', net, {}, 'host_blocked'],
  ['a host, an empty list', net, { net: { hosts: [] } }, 'host_blocked'],
  ['a host, declared', net, { net: { hosts: ['api.example.com'] } }, undefined],
  ['a host, another one declared', net, { net: { hosts: ['example.com'] } }, 'host_blocked'],
  ['a host, its domain declared', net, { net: { hosts: ['*.example.com'] } }, undefined],
  ['a program, nothing declared', process, {}, 'executable_blocked'],
  ['a program, an empty list', process, { proc: { executables: [] } }, 'executable_blocked'],
  ['a program, declared', process, { proc: { executables: ['ls'] } }, undefined],
  ['a program, declared by its path', process, { proc: { executables: ['/usr/bin/ls'] } }, undefined],
  ['a program, another one declared', process, { proc: { executables: ['cat'] } }, 'executable_blocked'],
  ['a read, nothing declared', { kind: 'fs.read', path: '{project}/a' }, {}, 'path_outside_roots'],
  [
    'a read, an empty list',
    { kind: 'fs.read', path: '{project}/a' },
    { fs: { read: [] } },
    'path_outside_roots',
  ],
  [
    'a read in the project',
    { kind: 'fs.read', path: '{project}/a' },
    { fs: { read: ['project'] } },
    undefined,
  ],
  [
    'a read beside the project',
    { kind: 'fs.read', path: '{project}-evil/a' },
    { fs: { read: ['*'] } },
    'path_outside_roots',
  ],
  [
    'a write, only reading declared',
    { kind: 'fs.write', path: '{project}/a' },
    { fs: { read: ['*'] } },
    'write_outside_allowed_roots',
  ],
  [
    'a write in the project',
    { kind: 'fs.write', path: '{project}/a' },
    { fs: { write: ['project'] } },
    undefined,
  ],
  [
    'a write outside of everything',
    { kind: 'fs.write', path: '/etc/passwd' },
    { fs: { write: ['*'] } },
    'write_outside_allowed_roots',
  ],
  [
    'a write to tmp, which nobody allowed',
    { kind: 'fs.write', path: '/tmp/x' },
    { fs: { write: ['tmp'] }, tmp: true },
    'write_outside_allowed_roots',
  ],
])(
  '%s: empty means nothing, and an allow rule widens no bounds (PERM-1)',
  async (...[, operation, capabilities, reason]) => {
    const project = makeFolder()
    const inside =
      'path' in operation
        ? { ...operation, path: operation.path.replace('{project}', () => project) }
        : operation
    const runtime = await openRuntime({ project, tools: [planner([inside], capabilities)], policy: allowAll })
    const result = await runtime.session().call('demo.plan')
    if (reason === undefined) expect(result.error).toBeUndefined()
    else expect(result.error).toMatchObject({ code: 'SANDBOX.CAPABILITY_BLOCKED', reason })
  },
)

test('a person who says yes widens no bounds (PERM-1)', async () => {
  const person = personSaying('allow_once')
  const runtime = await openRuntime({ tools: [codeTools()], approve: person.approve })
  const result = await runtime.session().call('code.write_file', { path: '../escape.txt', content: 'x' })
  expect(result.error).toMatchObject({ code: 'SANDBOX.CAPABILITY_BLOCKED' })
  expect(person.asked).toEqual([])
})

test('a read-only tool that tries to write is refused by its profile (PL-12)', async () => {
  const project = makeFolder()
  const tricky = defineTool({
    name: 'demo.tricky',
    description: 'Says it only reads.',
    permission: 'readonly',
    sideEffect: 'read',
    capabilities: { fs: { read: ['*'] } },
    needs: ['files', 'commands'],
    rawInput: { type: 'object', properties: { by: { type: 'string' } } },
    async run({ by }, { files, commands, signal }) {
      if (by === 'file') await files.write('x.txt', Buffer.from('x'), { createDirs: true, expect: 'absent' })
      else
        await commands.run({
          executable: '/usr/bin/touch',
          argv: ['touch', 'x.txt'],
          cwd: project,
          timeoutMs: 5_000,
          maxBytes: 100,
          signal,
        })
      return 'written'
    },
  })
  const runtime = await openRuntime({ project, tools: [tricky], policy: allowAll })
  const session = runtime.session()
  for (const by of ['file', 'command']) {
    const result = await session.call('demo.tricky', { by })
    expect(result).toMatchObject({ ok: false, error: { code: 'SANDBOX.CAPABILITY_BLOCKED' } })
  }
  expect(existsSync(join(project, 'x.txt'))).toBe(false)
})

test('a plan that tries to write is refused, before anybody is asked (PL-12)', async () => {
  const project = makeFolder()
  const person = personSaying('allow_once')
  const hasty = defineTool({
    name: 'demo.hasty',
    description: 'Writes while it plans.',
    sideEffect: 'filesystem',
    scopes: [{ resource: 'file', action: 'write' }],
    capabilities: { fs: { read: ['*'], write: ['*'] } },
    needs: ['files'],
    input: { type: 'object', properties: {} },
    async plan(_, { files }) {
      await files?.write('x.txt', Buffer.from('x'), { createDirs: true, expect: 'absent' })
      return { operations: [] }
    },
    run: () => null,
  })
  const runtime = await openRuntime({ project, tools: [hasty], approve: person.approve })
  expect((await runtime.session().call('demo.hasty')).error?.code).toBe('SANDBOX.CAPABILITY_BLOCKED')
  expect(existsSync(join(project, 'x.txt'))).toBe(false)
  expect(person.asked).toEqual([])
})

test('a path or host that a plan spells in another way is what a rule says of it (PL-04)', async () => {
  const project = makeFolder({ 'secret.txt': 'inner' })
  const spelling = defineTool({
    name: 'demo.spelling',
    description: 'Plans what it is told as it is told.',
    permission: 'readonly',
    sideEffect: 'network',
    capabilities: { fs: { read: ['*'] }, net: { hosts: ['*'] } },
    input: { type: 'object', properties: { path: { type: 'string' }, host: { type: 'string' } } },
    plan({ path, host = '' }) {
      if (path !== undefined) return { operations: [{ kind: 'fs.read', path: `${project}/${path}` }] }
      return { operations: [{ kind: 'net', host, url: `https://${host}/` }] }
    },
    run: () => 'ran',
  })
  const resources = ['handrail:file:{project}/secret.txt', 'handrail:host:evil.example']
  const runtime = await openRuntime({
    project,
    tools: [spelling],
    policy: { rules: [{ effect: 'deny', tools: ['*'], resources }, ...allowAll.rules] },
  })
  const session = runtime.session()
  const told = [
    ...['secret.txt', './secret.txt', 'x/../secret.txt', '/secret.txt', 'secret.txt/'].map((path) => ({
      path,
    })),
    { host: 'Evil.example' },
  ]
  for (const input of told)
    expect((await session.call('demo.spelling', input)).error?.reason, JSON.stringify(input)).toBe(
      'rule_denied',
    )
  expect((await session.call('demo.spelling', { path: '.secret.txt..' })).ok).toBe(true)
})

test('what is no plan can be judged by nobody, so nothing runs, and a preflight says why (PL-03)', async () => {
  const ran: unknown[] = []
  const operations: readonly Operation[] = []
  const preview = { kind: 'text', title: 'A title', body: 'A body' }
  const plans: Readonly<Record<string, unknown>> = {
    null: null,
    text: 'fs.write',
    'no operations': { preview },
    'operations that are a set': { operations: new Set() },
    'an operation that is null': { operations: [null] },
    'a kind that there is not': { operations: [{ kind: 'fs.wirte', path: '/etc/passwd' }] },
    'a path that is relative': { operations: [{ kind: 'fs.read', path: 'a' }] },
    'no argv': { operations: [{ kind: 'process', executable: '/usr/bin/ls', cwd: '/' }] },
    'no host': { operations: [{ kind: 'net', url: 'https://a.example/' }] },
    'a resource that is a number': { operations: [{ kind: 'other', resource: 5 }] },
    'a preview without a body': { operations, preview: { ...preview, body: undefined } },
    'a title that is a number': { operations, preview: { ...preview, title: 5 } },
    'a scope that is a number': { operations, scope: 5 },
  }
  const odd = defineTool({
    name: 'demo.odd',
    description: 'Plans what is none.',
    permission: 'readonly',
    input: { type: 'object', properties: { which: { type: 'string' } } },
    plan: ({ which }) => plans[which ?? ''] as never,
    run: (input) => ran.push(input),
  })
  const session = (await openRuntime({ tools: [odd], policy: allowAll })).session()
  for (const which of Object.keys(plans)) {
    const { error } = await session.call('demo.odd', { which })
    expect(error, which).toMatchObject({ code: 'TOOL.FAILED', reason: 'invalid_plan' })
    expect(await session.preflight('demo.odd', { which }), which).toMatchObject({
      effect: 'deny',
      error: { reason: 'invalid_plan', message: error?.message },
    })
  }
  expect(ran).toEqual([])
})

test.each([
  [
    'throws',
    () => {
      throw new Error('the attribute "owner" is missing')
    },
  ],
  ['rejects', async () => Promise.reject(new Error('the attribute "owner" is missing'))],
  ['answers nothing', () => undefined],
  ['answers true', () => true],
])('a hook that %s denies (PL-03)', async (_, before) => {
  const runtime = await openRuntime({
    tools: [makeTool('demo.read')],
    hooks: [{ name: 'condition', before: before as never }],
  })
  const result = await runtime.session().call('demo.read')
  expect(result).toMatchObject({ ok: false, error: { code: 'POLICY.HOOK_DENIED', reason: 'hook_failed' } })
})

test('a plan that throws ends the call before it runs (PL-03)', async () => {
  let ran = false
  const broken = {
    ...makeTool('demo.broken', { permission: 'write' }),
    plan: () => {
      throw new Error('no such attribute')
    },
    run: () => (ran = true),
  }
  const runtime = await openRuntime({ tools: [broken], policy: allowAll })
  expect((await runtime.session().call('demo.broken')).ok).toBe(false)
  expect(ran).toBe(false)
})

test('a rule with an unknown effect, field or role stops the start instead of being passed over (PL-03)', async () => {
  const rules = [
    { effect: 'denny', tools: ['code.*'] },
    { efect: 'deny', tools: ['code.*'] },
    { effect: 'deny', tool: ['code.*'] },
    { effect: 'deny', tools: 'code.*' },
    { effect: 'deny', roles: ['root'] },
    {
      effect: 'deny',
      resources: ['file:/etc/**', 'handrail:file:etc/**', 'handrail:file:/etc/', 'handrail:file:/a/../b'],
    },
  ]
  await expect(createRuntime({ project: makeFolder(), policy: { rules } as never })).rejects.toMatchObject({
    code: 'invalid_options',
    issues: [
      { pointer: '/policy/rules/0/effect' },
      { pointer: '/policy/rules/1/efect' },
      { pointer: '/policy/rules/1/effect' },
      { pointer: '/policy/rules/2/tool' },
      { pointer: '/policy/rules/3/tools' },
      { pointer: '/policy/rules/4/roles/0' },
      ...[0, 1, 2, 3].map((place) => ({
        pointer: `/policy/rules/5/resources/${place}`,
        code: 'invalid_resource',
      })),
    ],
  })
})

test('a pattern with many stars is decided in no time (PL-05)', async () => {
  const pattern = `${'*a'.repeat(60)}*b`
  const runtime = await openRuntime({
    tools: [makeTool(`demo.${'a'.repeat(190)}`)],
    policy: {
      rules: [
        { effect: 'deny', tools: [pattern] },
        { effect: 'deny', resources: [`handrail:tool:${pattern}`] },
      ],
    },
  })
  const spentMs = startProcessorClock()
  expect((await runtime.session().call(`demo.${'a'.repeat(190)}`)).ok).toBe(true)
  expect(spentMs()).toBeLessThan(2_000)
})

test('a tool that requires a consent asks, though it is read-only; scope "once" is never kept (PERM-1, DEF-3)', async () => {
  const person = personSaying('allow_for_session')
  const runtime = await openRuntime({
    tools: [
      makeTool('demo.kept', { consent: { required: true } }),
      makeTool('demo.once', { consent: { required: true, scope: 'once' } }),
    ],
    approve: person.approve,
  })
  const session = runtime.session()
  for (const tool of ['demo.kept', 'demo.once']) for (let time = 0; time < 2; time++) await session.call(tool)
  expect(person.asked.map((request) => `${request.tool} ${request.because.rule}`)).toEqual([
    'demo.kept consent',
    'demo.once consent',
    'demo.once consent',
  ])
})
