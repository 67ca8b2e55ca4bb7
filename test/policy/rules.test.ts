import { chmodSync, mkdirSync, realpathSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { codeTools, defineTool, type Effect, type Operation, type Policy, type Rule } from 'handrail'
import { expect, test } from 'vitest'
import { makeTool } from '../support/make-tool.ts'
import { makeFolder, openRuntime, personSaying } from '../support/project.ts'

const reach = defineTool({
  name: 'net.reach',
  description: 'Reaches hosts.',
  permission: 'readonly',
  sideEffect: 'network',
  capabilities: { net: { hosts: ['*'] } },
  input: {
    type: 'object',
    properties: { hosts: { type: 'array', items: { type: 'string' } } },
    required: ['hosts'],
  },
  plan: ({ hosts }) => ({
    operations: hosts.map((host): Operation => ({ kind: 'net', host, url: `https://${host}/` })),
  }),
  run: ({ hosts }) => hosts.length,
})

const touch = defineTool({
  name: 'demo.touch',
  description: 'Touches files.',
  sideEffect: 'filesystem',
  capabilities: { fs: { read: ['*'], write: ['*'] } },
  scopes: [{ resource: 'file', action: 'write' }],
  needs: ['files'],
  input: {
    type: 'object',
    properties: { paths: { type: 'array', items: { type: 'string' } } },
    required: ['paths'],
  },
  plan: async ({ paths }, { files }) => {
    const resolved = await Promise.all(paths.map(async (path) => (await files?.resolve(path, 'write')) ?? ''))
    return { operations: resolved.map((path): Operation => ({ kind: 'fs.write', path })) }
  },
  run: ({ paths }) => paths.length,
})

const dangerous = defineTool({
  name: 'demo.blast',
  description: 'Is dangerous.',
  tags: ['dangerous'],
  sideEffect: 'filesystem',
  scopes: [{ resource: 'file', action: 'write' }],
  capabilities: { fs: { write: ['*'] } },
  input: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
  plan: ({ path }, { project }) => ({ operations: [{ kind: 'fs.write', path: join(project, path) }] }),
  run: () => null,
})

/** What these rules say about a call, with a person there to be asked. */
async function judge(
  rules: readonly Rule[],
  call: { tool: string; input?: unknown; project?: string; policy?: Policy },
) {
  const runtime = await openRuntime({
    project: call.project ?? makeFolder(),
    tools: [
      codeTools(),
      reach,
      touch,
      dangerous,
      makeTool('demo.read', { tags: ['quick'] }),
      makeTool('demo.write', { permission: 'write', tags: ['slow', 'big'] }),
    ],
    policy: { ...call.policy, rules },
    approve: personSaying('deny').approve,
  })
  const { effect, decision, error } = await runtime.session().preflight(call.tool, call.input)
  return { effect, rule: decision?.rule, layer: decision?.layer, error }
}

test.each<[string, readonly Rule[], Effect, string]>([
  ['nothing matches a write: ask', [], 'ask', 'write'],
  ['allow', [{ id: 'a', effect: 'allow', tools: ['demo.write'] }], 'allow', 'a'],
  [
    'ask over allow',
    [
      { id: 'a', effect: 'allow' },
      { id: 'b', effect: 'ask', tools: ['demo.*'] },
    ],
    'ask',
    'b',
  ],
  [
    'deny over allow',
    [
      { id: 'a', effect: 'allow', tools: ['demo.write'] },
      { id: 'd', effect: 'deny', tools: ['*'] },
    ],
    'deny',
    'd',
  ],
  [
    'deny over ask over allow, in any order',
    [
      { id: 'd', effect: 'deny' },
      { id: 'b', effect: 'ask', tools: ['demo.*'] },
      { id: 'a', effect: 'allow', tools: ['demo.write'] },
    ],
    'deny',
    'd',
  ],
  [
    'a narrower allow does not beat a wider deny',
    [
      { id: 'd', effect: 'deny', tools: ['demo.*'] },
      { id: 'a', effect: 'allow', resources: ['handrail:tool:demo.write'] },
    ],
    'deny',
    'd',
  ],
])('%s (PERM-1, PL-01, PL-02)', async (...[, rules, effect, rule]) => {
  expect(await judge(rules, { tool: 'demo.write' })).toMatchObject({ effect, rule })
})

test.each<[string, Rule, boolean]>([
  ['its exact name', { effect: 'deny', tools: ['demo.write'] }, true],
  ['a pattern of names', { effect: 'deny', tools: ['demo.*'] }, true],
  ['a star inside of a segment', { effect: 'deny', tools: ['*.wri*'] }, true],
  ['another name', { effect: 'deny', tools: ['demo.writ'] }, false],
  ['a name that begins alike', { effect: 'deny', tools: ['demo.write2'] }, false],
  ['a tag', { effect: 'deny', tags: ['slow'] }, true],
  ['any of its tags', { effect: 'deny', tags: ['other', 'big'] }, true],
  ['a part of a tag', { effect: 'deny', tags: ['slo'] }, false],
  ['its name and another tag', { effect: 'deny', tools: ['demo.write'], tags: ['quick'] }, false],
  ['the role', { effect: 'deny', roles: ['sub', 'main'] }, true],
  ['another role', { effect: 'deny', roles: ['worker'] }, false],
  ['the mode', { effect: 'deny', modes: ['default'] }, true],
  ['another mode', { effect: 'deny', modes: ['bypass', 'plan'] }, false],
])('a rule on %s (PERM-8)', async (_, rule, matches) => {
  expect((await judge([rule], { tool: 'demo.write' })).effect).toBe(matches ? 'deny' : 'ask')
})

test.each([
  ['{project}/docs/**', 'docs/a.md', true],
  ['{project}/docs/**', 'docs/deep/er/a.md', true],
  ['{project}/docs/**', 'docs-evil/a.md', false],
  ['{project}/docs/**', 'other/docs/a.md', false],
  ['{project}/docs/*', 'docs/a.md', true],
  ['{project}/docs/*', 'docs/deep/a.md', false],
  ['{project}/**/*.md', 'a.md', true],
  ['{project}/**/*.md', 'x/y/a.md', true],
  ['{project}/**/*.md', 'x/y/a.mdx', false],
  ['**/secrets/**', 'a/secrets/b', true],
  ['**/secrets/**', 'a/nosecrets/b', false],
  ['{project}/.store/**', 'x/../.store/info/h', true],
  ['{project}/.store/**', './/.store/./info/h', true],
  ['{project}/a?.txt', 'ab.txt', true],
  ['{project}/a?.txt', 'a/.txt', false],
])('the file pattern %s and the path %s: %j (PERM-8, PL-04)', async (pattern, path, matches) => {
  const project = makeFolder({ 'x/keep': '', 'docs/keep': '' })
  const call = { tool: 'demo.touch', input: { paths: [path] }, project }
  const resources = [`handrail:file:${pattern}`]
  expect((await judge([{ effect: 'deny', resources }], call)).effect).toBe(matches ? 'deny' : 'ask')
  expect((await judge([{ effect: 'allow', resources }], call)).effect).toBe(matches ? 'allow' : 'ask')
})

test('rules see where a link leads, not its name (PL-04)', async () => {
  const project = makeFolder({ '.store/info/h': '', 'x/keep': '' })
  symlinkSync(join(project, '.store'), join(project, 'x', 'harmless'))
  const call = {
    tool: 'code.write_file',
    input: { path: 'x/harmless/info/h', content: '#!', overwrite: true },
    project,
  }
  const rule: Rule = { id: 'store', effect: 'deny', resources: ['handrail:file:{project}/.store/**'] }
  expect(await judge([rule], call)).toMatchObject({ effect: 'deny', rule: 'store' })
})

test('a project folder with "$&" in its name is taken literally (PERM-8)', async () => {
  const project = join(realpathSync(makeFolder()), 'a$&b$1')
  mkdirSync(join(project, 'secret'), { recursive: true })
  const rule: Rule = { effect: 'deny', resources: ['handrail:file:{project}/secret/**'] }
  const call = { tool: 'demo.touch', input: { paths: ['secret/a'] }, project }
  expect((await judge([rule], call)).effect).toBe('deny')
})

test('an allow must cover everything a call reaches; a deny is met by any part (PERM-8)', async () => {
  const resources = ['handrail:file:{project}/docs/**']
  const inside = { tool: 'demo.touch', input: { paths: ['docs/a', 'docs/b'] } }
  const partly = { tool: 'demo.touch', input: { paths: ['docs/a', 'src/b'] } }
  const nothing = { tool: 'demo.touch', input: { paths: [] } }
  expect((await judge([{ effect: 'allow', resources }], inside)).effect).toBe('allow')
  expect((await judge([{ effect: 'allow', resources }], partly)).effect).toBe('ask')
  expect((await judge([{ effect: 'allow', resources }], nothing)).effect).toBe('ask')
  expect((await judge([{ effect: 'deny', resources }], partly)).effect).toBe('deny')
  expect((await judge([{ effect: 'ask', resources }], nothing)).rule).toBe('write')
})

test.each([
  ['example.com', 'example.com', true],
  ['example.com', 'EXAMPLE.com', true],
  ['example.com', 'example.com.', true],
  ['example.com', 'evilexample.com', false],
  ['example.com', 'example.com.evil.net', false],
  ['example.com', 'api.example.com', false],
  ['*.example.com', 'api.example.com', true],
  ['*.example.com', 'a.b.example.com', true],
  ['*.example.com', 'example.com', false],
  ['*.example.com', 'evilexample.com', false],
  ['api-*.example.com', 'api-2.example.com', true],
  ['api-*.example.com', 'api-2.evil.example.com', false],
  ['example.*', 'example.org', true],
  ['example.*', 'example.co.uk', false],
  ['example.*', 'www.example.org', false],
  ['*', 'anything.at.all', true],
])('the host pattern %s and the host %s: %j (PERM-8)', async (pattern, host, matches) => {
  const call = { tool: 'net.reach', input: { hosts: [host] } }
  const listed = await judge([], { ...call, policy: { network: { hosts: [pattern] } } })
  expect(listed.effect).toBe(matches ? 'allow' : 'ask')
  const allowed = await judge([{ effect: 'allow', resources: [`handrail:host:${pattern}`] }], call)
  expect(allowed.effect).toBe(matches ? 'allow' : 'ask')
  const denied = await judge([{ effect: 'deny', resources: [`handrail:host:${pattern}`] }], call)
  expect(denied.effect).toBe(matches ? 'deny' : 'ask')
})

test('network tools ask, can be disabled, or are bound to hosts (PERM-8)', async () => {
  const call = { tool: 'net.reach', input: { hosts: ['a.example.com', 'b.example.com'] } }
  const network = async (given: Policy['network']) => judge([], { ...call, policy: { network: given ?? {} } })
  expect(await network({})).toMatchObject({ effect: 'ask', rule: 'network' })
  expect(await network({ hosts: [] })).toMatchObject({ effect: 'ask' })
  expect(await network({ hosts: ['a.example.com'] })).toMatchObject({ effect: 'ask' })
  expect(await network({ hosts: ['*.example.com'] })).toMatchObject({ effect: 'allow' })
  expect(await network({ default: 'allow' })).toMatchObject({ effect: 'allow' })
  expect(await network({ default: 'deny' })).toMatchObject({
    effect: 'deny',
    rule: 'network',
    error: { reason: 'rule_denied' },
  })
  expect(await network({ default: 'deny', hosts: ['a.example.com'] })).toMatchObject({ effect: 'deny' })
  expect(await network({ default: 'deny', hosts: ['*.example.com'] })).toMatchObject({ effect: 'allow' })
})

test.each([[undefined], [['handrail:host:*']]])(
  'a refusal says the reason of its rule as one sentence, for resources %j (PERM-10)',
  async (resources) => {
    const rule = {
      id: 'people',
      effect: 'deny',
      tools: ['net.*'],
      reason: 'Commands are for people.',
      ...(resources !== undefined && { resources }),
    } as const
    const { error } = await judge([rule], { tool: 'net.reach', input: { hosts: ['a.example.com'] } })
    expect(error?.message).toMatch(/^"net\.reach" is denied( here)?: Commands are for people\.$/)
  },
)

test.each([false, true])('a yes for the session and everyTime: %j (PERM-8)', async (everyTime) => {
  const person = personSaying('allow_for_session')
  const loud = {
    ...reach,
    definition: { ...reach.definition, name: 'net.loud', tags: ['dangerous', 'network'] },
  }
  const runtime = await openRuntime({
    tools: [reach, loud],
    policy: { network: { everyTime } },
    approve: person.approve,
  })
  const session = runtime.session()
  for (const tool of ['net.reach', 'net.loud'])
    for (let time = 0; time < 3; time++)
      expect((await session.call(tool, { hosts: ['a.example.com'] })).ok).toBe(true)
  expect(person.asked).toHaveLength(everyTime ? 6 : 2)
})

test.each<[string, Rule, Effect]>([
  ['an unscoped allow', { effect: 'allow' }, 'ask'],
  ['an allow of the tool', { effect: 'allow', tools: ['demo.blast'] }, 'ask'],
  ['an allow of its tag', { effect: 'allow', tags: ['dangerous'] }, 'ask'],
  ['an allow of its own URN', { effect: 'allow', resources: ['handrail:tool:demo.blast'] }, 'ask'],
  ['an allow of everything', { effect: 'allow', resources: ['*'] }, 'ask'],
  [
    'an allow of its URN beside a place',
    { effect: 'allow', resources: ['handrail:tool:demo.*', 'handrail:file:{project}/out/**'] },
    'ask',
  ],
  ['an allow of the place', { effect: 'allow', resources: ['handrail:file:{project}/out/**'] }, 'allow'],
  ['an allow of another place', { effect: 'allow', resources: ['handrail:file:{project}/src/**'] }, 'ask'],
])('a dangerous tool and %s (PERM-8)', async (_, rule, effect) => {
  expect((await judge([rule], { tool: 'demo.blast', input: { path: 'out/a' } })).effect).toBe(effect)
})

const ls = ['ls', '-l', 'src']

test.each<[string, readonly string[], readonly string[], boolean]>([
  ['the same arguments', ['ls', '-l', 'src'], ls, true],
  ['one argument fewer', ['ls', '-l'], ls, false],
  ['one argument more', ['ls', '-l', 'src', 'x'], ls, false],
  ['any further arguments', ['ls', '**'], ls, true],
  ['no further arguments are needed', ['ls', '-l', 'src', '**'], ls, true],
  ['a pattern inside of an argument', ['ls', '-*', 's*'], ls, true],
  ['one star is one argument', ['ls', '*'], ls, false],
  ['another program', ['cat', '**'], ls, false],
  ['a program that begins alike', ['l', '**'], ls, false],
  ['text with a space is one argument', ['ls', '-l src'], ls, false],
  [
    'an injected command is an argument, not a command',
    ['ls', '-l', 'src'],
    ['ls', '-l', 'src; rm -rf x'],
    false,
  ],
])('argv rules: %s (PERM-8)', async (...[, pattern, argv, matches]) => {
  const rule: Rule = { effect: 'allow', tools: ['code.run_command'], argv: pattern }
  const { effect } = await judge([rule], { tool: 'code.run_command', input: { argv } })
  expect(effect).toBe(matches ? 'allow' : 'ask')
})

/** A folder with an executable `ls` of its own, and a link to the real one. */
function makeTrap(): string {
  const project = makeFolder({ ls: '#!/bin/sh\necho trapped\n', 'bin/ls': '#!/bin/sh\necho trapped\n' })
  for (const path of ['ls', 'bin/ls']) chmodSync(join(project, path), 0o755)
  return project
}

test.each(['./ls', 'bin/ls', 'bin/../ls'])('%s in the project is never ls (PERM-8)', async (program) => {
  const project = makeTrap()
  const rule: Rule = { effect: 'allow', tools: ['code.run_command'], argv: ['ls', '**'] }
  const call = { tool: 'code.run_command', project }
  expect((await judge([rule], { ...call, input: { argv: ['ls'] } })).effect).toBe('allow')
  expect((await judge([rule], { ...call, input: { argv: [program] } })).effect).toBe('ask')
  expect((await judge([rule], { ...call, input: { argv: [join(project, program)] } })).effect).toBe('ask')
})

test('a folder of PATH that tools may write gives no programs (PERM-8)', async () => {
  const project = makeTrap()
  const path = process.env['PATH']
  process.env['PATH'] = `${project}:${join(project, 'bin')}:bin:${path}`
  try {
    const rule: Rule = { effect: 'allow', tools: ['code.run_command'], argv: ['ls', '**'] }
    const runtime = await openRuntime({ project, tools: [codeTools()], policy: { rules: [rule] } })
    const report = await runtime.session().preflight('code.run_command', { argv: ['ls'] })
    expect(report.effect).toBe('allow')
    const [operation] = report.plan?.operations ?? []
    expect(operation).toMatchObject({ kind: 'process' })
    expect(operation?.kind === 'process' && operation.executable.startsWith(project)).toBe(false)
  } finally {
    process.env['PATH'] = path
  }
})

/** A folder of programs outside of the project, on PATH while the test runs. */
async function withPrograms(run: (folder: string) => Promise<void>): Promise<void> {
  const folder = makeFolder({ 'real-tool-2': '#!/bin/sh\n', 'many-names': '#!/bin/sh\n' })
  for (const name of ['real-tool-2', 'many-names']) chmodSync(join(folder, name), 0o755)
  symlinkSync(join(folder, 'real-tool-2'), join(folder, 'mytool'))
  for (const name of ['safe', 'harmful']) symlinkSync(join(folder, 'many-names'), join(folder, name))
  const path = process.env['PATH']
  process.env['PATH'] = `${folder}:${path}`
  try {
    await run(folder)
  } finally {
    process.env['PATH'] = path
  }
}

test('an installed program that is a link is known by the name it is asked for (PERM-8)', async () => {
  await withPrograms(async (folder) => {
    const judged = (effect: 'allow' | 'deny', program: string, argv: readonly string[]) =>
      judge([{ effect, tools: ['code.run_command'], argv: [program, '**'] }], {
        tool: 'code.run_command',
        input: { argv },
      })
    expect((await judged('allow', 'mytool', ['mytool', 'x'])).effect).toBe('allow')
    expect((await judged('deny', 'mytool', ['mytool', 'x'])).effect).toBe('deny')
    expect((await judged('deny', 'real-tool-2', ['mytool', 'x'])).effect).toBe('deny')
    expect((await judged('deny', 'mytool', [join(folder, 'mytool')])).effect).toBe('deny')
    expect((await judged('deny', 'mytool', ['./mytool'])).effect).toBe('deny')
  })
})

test('a program of many names is only the one that was allowed (PERM-8)', async () => {
  await withPrograms(async (folder) => {
    const judged = (program: string, argv: readonly string[]) =>
      judge([{ effect: 'allow', tools: ['code.run_command'], argv: [program, '**'] }], {
        tool: 'code.run_command',
        input: { argv },
      })
    expect((await judged('safe', ['safe', 'x'])).effect).toBe('allow')
    expect((await judged('safe', ['harmful', 'x'])).effect).toBe('ask')
    expect((await judged('many-names', ['harmful', 'x'])).effect).toBe('ask')
    expect((await judged('safe', [join(folder, 'harmful'), 'x'])).effect).toBe('ask')
  })
})

test('an argv rule allows a command, not what a call does beside it (PERM-8)', async () => {
  const both = defineTool({
    name: 'demo.both',
    description: 'Runs and writes.',
    sideEffect: 'process',
    scopes: [{ resource: 'file', action: 'write' }],
    capabilities: { fs: { write: ['*'] }, proc: { executables: ['*'] } },
    plan: undefined,
    run: () => null,
  } as Parameters<typeof defineTool>[0])
  const planned = {
    ...both,
    plan: (_: unknown, { project }: { project: string }) => ({
      operations: [
        { kind: 'process', executable: '/usr/bin/ls', argv: ['ls'], cwd: project },
        { kind: 'fs.write', path: join(project, 'a') },
      ] satisfies Operation[],
    }),
  }
  const decide = async (rules: readonly Rule[]) => {
    const runtime = await openRuntime({
      tools: [planned],
      policy: { rules },
      approve: personSaying('deny').approve,
    })
    return (await runtime.session().preflight('demo.both')).effect
  }
  expect(await decide([{ effect: 'allow', argv: ['ls'] }])).toBe('ask')
  expect(await decide([{ effect: 'deny', argv: ['ls'] }])).toBe('deny')
})
