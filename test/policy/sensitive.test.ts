import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { codeTools, type Rule } from 'handrail'
import { expect, test } from 'vitest'
import { makeFolder, openRuntime, personSaying } from '../support/project.ts'

test.each([
  '.env',
  '.ENV',
  '.env.local',
  'deploy/.env.production',
  'server.key',
  'certs/site.pem',
  'Certs/Site.PEM',
])('reading %s asks, whatever an ordinary rule allows (PERM-2, FILE-8)', async (path) => {
  const person = personSaying('deny')
  const runtime = await openRuntime({
    project: makeFolder({ [path]: 'secret' }),
    tools: [codeTools()],
    policy: {
      rules: [
        { effect: 'allow', tools: ['*'] },
        { effect: 'allow', resources: ['handrail:file:**'] },
      ],
    },
    approve: person.approve,
  })
  const result = await runtime.session().call('code.read_file', { path })
  expect(result.ok).toBe(false)
  expect(person.asked.map((request) => request.because.rule)).toEqual(['sensitive-path'])
})

test.each(['.envoy/a', 'environment', 'monkey', 'key', 'pem.txt', 'server.keys', 'x.env'])(
  'reading %s asks nobody (PERM-2)',
  async (path) => {
    const runtime = await openRuntime({ project: makeFolder({ [path]: 'x' }), tools: [codeTools()] })
    expect((await runtime.session().call('code.read_file', { path })).ok).toBe(true)
  },
)

test('only an allow rule that says so covers a sensitive path, and a deny still wins (PERM-1)', async () => {
  const project = makeFolder({ '.env': 'X=1' })
  const sensitive: Rule = { effect: 'allow', sensitive: true, resources: ['handrail:file:{project}/.env'] }
  const read = async (rules: readonly Rule[]) => {
    const runtime = await openRuntime({ project, tools: [codeTools()], policy: { rules } })
    return (await runtime.session().call('code.read_file', { path: '.env' })).ok
  }
  expect(await read([sensitive])).toBe(true)
  expect(await read([{ ...sensitive, sensitive: false }])).toBe(false)
  expect(await read([sensitive, { effect: 'deny', resources: ['handrail:file:**/.env'] }])).toBe(false)
})

test('a yes for the session never covers a sensitive path of the same folder (PERM-4, FILE-8)', async () => {
  const person = personSaying('allow_for_session')
  const runtime = await openRuntime({ tools: [codeTools()], approve: person.approve })
  const session = runtime.session()
  const write = (path: string) => session.call('code.write_file', { path, content: 'x', overwrite: true })
  await write('a.txt')
  await write('b.txt')
  expect(person.asked).toHaveLength(1)
  await write('.env')
  await write('.env')
  expect(person.asked.map((request) => request.because.rule)).toEqual([
    'write',
    'sensitive-path',
    'sensitive-path',
  ])
})

test('a yes for a sensitive path is not kept for its folder either (PERM-4, FILE-8)', async () => {
  const person = personSaying('allow_for_session')
  const runtime = await openRuntime({ tools: [codeTools()], approve: person.approve })
  const session = runtime.session()
  await session.call('code.write_file', { path: 'server.key', content: 'x' })
  await session.call('code.write_file', { path: 'other.key', content: 'x' })
  await session.call('code.write_file', { path: 'a.txt', content: 'x' })
  expect(person.asked).toHaveLength(3)
})

test('a home that is a link, and a sensitive folder that is one, are sensitive under both names (FILE-8)', async () => {
  const real = makeFolder({ 'dotfiles/ssh/id_ed25519': 'key', '.aws/credentials': 'key', 'notes.txt': 'x' })
  symlinkSync(join(real, 'dotfiles/ssh'), join(real, '.ssh'))
  const links = makeFolder()
  symlinkSync(real, join(links, 'home'))
  const person = personSaying('deny')
  const runtime = await openRuntime({
    home: join(links, 'home'),
    readRoots: ['~'],
    tools: [codeTools()],
    approve: person.approve,
  })
  const session = runtime.session()
  for (const path of ['.ssh/id_ed25519', 'dotfiles/ssh/id_ed25519', '.aws/credentials'])
    for (const home of [real, join(links, 'home')])
      expect((await session.call('code.read_file', { path: join(home, path) })).ok).toBe(false)
  expect(person.asked.map((request) => request.because.rule)).toEqual([
    'sensitive-path',
    'sensitive-path',
    'sensitive-path',
  ])
  expect((await session.call('code.read_file', { path: join(real, 'notes.txt') })).ok).toBe(true)
})

test('a command sees nothing of a sensitive folder, whatever capitals its path and its pattern have (FILE-8)', async () => {
  const runtime = await openRuntime({
    home: makeFolder({ 'Me/.ssh/id_ed25519': 'key', 'Me/Private/a.txt': 'key' }),
    readRoots: ['~'],
    sensitivePaths: ['~/Me/.ssh', '~/me/private'],
    tools: [codeTools()],
    approve: personSaying('allow_once').approve,
  })
  const find = ['find', '/', '-name', 'id_ed25519', '-o', '-path', '*/Private/a.txt', '-size', '+0']
  const { data } = await runtime.session().call('code.run_command', { argv: find })
  expect((data as { stdout: { head: string } }).stdout.head).toBe('')
})

test('~ in a rule means where the home really is (PERM-8)', async () => {
  const real = makeFolder({ 'notes/a.txt': 'x' })
  const links = makeFolder()
  symlinkSync(real, join(links, 'home'))
  const runtime = await openRuntime({
    home: join(links, 'home'),
    readRoots: ['~'],
    tools: [codeTools()],
    policy: { rules: [{ effect: 'deny', resources: ['handrail:file:~/notes/**'] }] },
  })
  const result = await runtime.session().call('code.read_file', { path: join(real, 'notes/a.txt') })
  expect(result.error?.reason).toBe('rule_denied')
})

const search = { query: 'needle' }

test('a search leaves out what a rule denies or asks for, and sensitive files (PERM-1, FILE-8)', async () => {
  const project = makeFolder({
    'a.txt': 'needle',
    '.env': 'needle',
    'secrets/b.txt': 'needle',
    'legal/c.txt': 'needle',
    'docs/d.txt': 'needle',
  })
  const runtime = await openRuntime({
    project,
    tools: [codeTools()],
    policy: {
      rules: [
        { effect: 'deny', resources: ['handrail:file:**/secrets/**'] },
        { effect: 'deny', tools: ['code.write_file'], resources: ['handrail:file:{project}/docs/**'] },
        { effect: 'deny', roles: ['sub'], resources: ['handrail:file:{project}/docs/**'] },
      ],
    },
    projectConfiguration: { rules: [{ effect: 'ask', resources: ['handrail:file:{project}/legal/**'] }] },
  })
  const seen = async (tool: string, input: object, role: 'main' | 'sub' = 'main') =>
    JSON.stringify(await runtime.session({ role }).call(tool, input))
  for (const [tool, input] of [
    ['code.search', search],
    ['code.glob', { pattern: '**/*.txt' }],
    ['code.list_dir', { path: '.', recursive: true }],
  ] as const) {
    const found = await seen(tool, input)
    expect(found).toContain('a.txt')
    expect(found).toContain('d.txt')
    expect(found).not.toContain('b.txt')
    expect(found).not.toContain('c.txt')
    expect(await seen(tool, input, 'sub')).not.toContain('d.txt')
  }
  expect((await runtime.session().call('code.search', search)).data).toMatchObject({
    hits: [{ path: 'a.txt' }, { path: 'docs/d.txt' }],
  })
})

test('what a search names itself is decided, not hidden (PERM-1)', async () => {
  const person = personSaying('allow_once')
  const runtime = await openRuntime({
    project: makeFolder({ 'secrets/b.txt': 'needle', 'legal/c.txt': 'needle' }),
    tools: [codeTools()],
    policy: {
      rules: [
        { effect: 'deny', resources: ['handrail:file:{project}/secrets/**'] },
        { id: 'legal', effect: 'ask', resources: ['handrail:file:{project}/legal/**'] },
      ],
    },
    approve: person.approve,
  })
  const session = runtime.session()
  expect((await session.call('code.search', { ...search, path: 'secrets' })).error?.reason).toBe(
    'rule_denied',
  )
  expect(JSON.stringify(await session.call('code.search', { ...search, path: 'legal' }))).toContain('c.txt')
  expect(person.asked.map((request) => request.because.rule)).toEqual(['legal'])
})
