import { chmodSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type ToolResult } from 'handrail'
import { capletTools } from 'handrail/tools'
import { expect, test } from 'vitest'
import { handrail, jsonOf, makePlace, type Place } from '../support/command-line.ts'
import { createPublisher, keyOf, makeCaplet, pack as packFor, writePackage } from '../support/caplets.ts'
import { makeFolder, openRuntime, personSaying } from '../support/project.ts'

const input = { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] }
const tool = {
  name: 'text.count',
  description: 'Counts the words of a file.',
  permission: 'readonly',
  command: './count.sh',
  args: ['--', '{{path}}'],
  output: 'json',
  input_schema: { ...input, additionalProperties: false },
}
const files = {
  'count.sh':
    '#!/bin/sh\n[ -r "$2" ] || exit 3\necho "{\\"words\\": $(wc -w < "$2"), \\"from\\": \\"$(cat "${0%/*}/lib/word.txt")\\"}"\n',
  'lib/word.txt': 'lib',
  '.git/config': 'stays out',
}
const tests = [
  {
    name: 'counts',
    input: { path: 'a.txt' },
    files: { 'a.txt': 'one two' },
    expect: { data: { words: 2, from: 'lib' } },
  },
  { name: 'no file', input: { path: 'b.txt' }, expect: { error: 'exit_code' } },
]
const source = { tool, tests }

async function run(place: Place, ...argv: string[]) {
  const ended = await handrail(place, argv)
  return { ...ended, lines: ended.stdout.trimEnd().split('\n') }
}

const pack = (place: Place, of: unknown, with_: Readonly<Record<string, string>> = files) =>
  packFor(place, of, with_)

const ready = () => makePlace({ 'a.txt': 'one two three' }, { 'note.txt': '' })
const count = (place: Place) => run(place, 'call', 'text.count', '{"path": "a.txt"}', '--json')

test('a tool is packed, verified, installed, tested, called at every door, and removed (NEXT-4)', async () => {
  const place = ready()
  const packed = await pack(place, source)
  const verified = await run(place, 'caplet', 'verify', packed, '--json')
  expect(jsonOf(verified)).toMatchObject({
    name: 'text.count',
    signedBy: 'me',
    read: ['project'],
    write: [],
    files: ['count.sh', 'lib/word.txt'],
  })
  expect((await run(place, 'caplet')).stdout).toBe('No caplet is installed.\n')
  expect((await run(place, 'caplet', 'install', packed)).code).toBe(0)
  expect((await run(place, 'caplet')).stdout).toBe('text.count  1.0.0  signed by me\n')
  for (const what of ['text.count', packed, makeCaplet(source, files)])
    expect((await run(place, 'caplet', 'test', what)).lines.at(-1)).toBe('2 of 2 hold.')

  const called = jsonOf<ToolResult>(await count(place))
  expect(called).toMatchObject({ ok: true, data: { words: 3, from: 'lib' } })
  const { key } = keysOf(place)
  const runtime = await openRuntime({
    project: place.project,
    tools: [capletTools({ dir: join(place.home, 'caplets'), publishers: { me: key } })],
  })
  expect(await runtime.session().call('text.count', { path: 'a.txt' })).toMatchObject({
    ok: true,
    data: called.data,
  })
  expect(runtime.registry.find('text.count')).toMatchObject({
    source: 'caplets',
    definition: {
      metadata: { caplet: { publisher: key } },
      capabilities: { fs: { read: ['project'], write: [] } },
    },
  })

  expect((await run(place, 'caplet', 'remove', 'text.count')).code).toBe(0)
  expect((await count(place)).code).not.toBe(0)
  const gone = await run(place, 'caplet', 'remove', 'text.count')
  expect([gone.code, gone.stderr]).toEqual([2, expect.stringContaining('unknown_caplet')])
})

const keysOf = (place: Place) => ({ key: keyOf(place) })

test('who is not named is refused unless the person names the very package, and forgetting a key ends its caplets (NEXT-4)', async () => {
  const place = ready()
  const packed = await pack(place, source)
  const unsigned = join(makeFolder(), 'unsigned.tgz')
  const { lines } = await run(
    place,
    'caplet',
    'pack',
    makeCaplet(source, files),
    '--unsigned',
    '--out',
    unsigned,
  )
  await run(place, 'caplet', 'install', packed)
  writeFileSync(join(place.home, 'config.json'), '{}')
  const listed = await run(place, 'caplet')
  expect([listed.code, listed.stdout]).toEqual([
    2,
    expect.stringContaining('"caplets.publishers" of config.json does not name'),
  ])
  expect((await count(place)).stdout).toContain('tool_not_available')
  for (const [path, says] of [
    [packed, 'It is signed with the key'],
    [unsigned, 'It is not signed.'],
  ] as const) {
    const refused = await run(place, 'caplet', 'verify', path)
    expect([refused.code, refused.stderr]).toEqual([
      2,
      expect.stringContaining(`untrusted_caplet: "${path}" is not taken. ${says}`),
    ])
  }
  await run(place, 'caplet', 'remove', 'text.count')
  const other = await run(place, 'caplet', 'install', unsigned, '--digest', `sha256:${'0'.repeat(64)}`)
  expect([other.code, other.stderr]).toEqual([2, expect.stringContaining('not the one that you named')])
  const taken = await run(place, 'caplet', 'install', unsigned, '--digest', lines[1] ?? '')
  expect(taken.code).toBe(0)
  expect(jsonOf(await count(place))).toMatchObject({ ok: true })
})

test('a newer version waits for a person, an older, altered or foreign one is refused (NEXT-4)', async () => {
  const place = ready()
  const first = await pack(place, source)
  await run(place, 'caplet', 'install', first)
  await count(place)
  const newer = await pack(
    place,
    { ...source, tool: { ...tool, version: '1.1.0' } },
    { ...files, 'lib/word.txt': 'new' },
  )
  expect((await run(place, 'caplet', 'install', newer)).code).toBe(0)
  expect((await count(place)).stdout).toContain('definition_pending')
  expect((await run(place, 'tools', 'approve', 'text.count')).code).toBe(0)
  expect(jsonOf(await count(place))).toMatchObject({ data: { from: 'new' } })

  const older = await run(place, 'caplet', 'install', first)
  expect([older.code, older.stderr]).toEqual([2, expect.stringContaining('To go back: --downgrade')])
  const same = await pack(place, { ...source, tool: { ...tool, version: '1.1.0' } })
  expect((await run(place, 'caplet', 'install', same)).stderr).toContain('a released version never changes')
  const stranger = createPublisher()
  const theirs = writePackage(
    stranger.sign({
      format: 1,
      tool: { ...tool, version: '2.0.0', command: 'true', args: [] },
      read: ['project'],
      write: [],
      tests: [],
      files: [],
    }),
    [],
  )
  const { key } = keysOf(place)
  const publishers = { me: key, stranger: stranger.key }
  writeFileSync(join(place.home, 'config.json'), JSON.stringify({ caplets: { publishers } }))
  expect((await run(place, 'caplet', 'install', theirs)).stderr).toContain(
    'It is installed from another publisher',
  )
  const twin = writePackage(
    stranger.sign({
      format: 1,
      tool: { ...tool, name: 'Text.Count', command: 'true', args: [] },
      read: ['project'],
      write: [],
      tests: [],
      files: [],
    }),
    [],
  )
  expect((await run(place, 'caplet', 'install', twin)).stderr).toContain('differs from it in case alone')
  expect((await run(place, 'caplet', 'install', first, '--downgrade')).code).toBe(0)
  expect((await count(place)).stdout).toContain('definition_pending')
})

test('its program reads its own folder and what it names, and nothing else (NEXT-4)', async () => {
  const place = ready()
  writeFileSync(join(place.home, 'note.txt'), 'of the home')
  const probe = `#!/bin/sh
echo x 2>/dev/null > "\${0%/*}/lib/word.txt" && echo "wrote its folder"
echo x 2>/dev/null > "${place.project}/new.txt" && echo "wrote the project"
cat "${join(place.home, 'note.txt')}" 2>/dev/null && echo "read the home"
ls "${join(place.home, 'caplets')}" 2>/dev/null | grep -v probe && echo "saw other caplets"
env | grep -q SECRET && echo "saw the environment"
cat "${place.project}/a.txt" "\${0%/*}/lib/word.txt"
`
  const of = {
    tool: {
      ...tool,
      name: 'text.probe',
      command: './probe.sh',
      args: [],
      output: 'text',
      input_schema: { type: 'object', properties: {}, additionalProperties: false },
    },
  }
  const packed = await pack(place, of, { 'probe.sh': probe, 'lib/word.txt': '!' })
  await run(place, 'caplet', 'install', packed)
  const { ok, content } = jsonOf<ToolResult>(await run(place, 'call', 'text.probe', '--json'))
  expect([ok, content]).toEqual([true, [{ type: 'text', text: 'one two three!' }]])
})

test('what was changed after it was installed does not run (NEXT-4)', async () => {
  const place = ready()
  await run(place, 'caplet', 'install', await pack(place, source))
  const { key } = keysOf(place)
  const dir = join(place.home, 'caplets')
  const open = () =>
    openRuntime({
      project: place.project,
      tools: [capletTools({ dir, publishers: { me: key } })],
      approve: personSaying('allow_once').approve,
    })
  const before = await open()
  const [folder = ''] = readdirSync(join(dir, 'text.count')).filter((name) => name !== 'installed.json')
  writeFileSync(join(dir, 'text.count', folder, 'lib', 'word.txt'), 'evil')
  expect(await before.session().call('text.count', { path: 'a.txt' })).toMatchObject({
    ok: false,
    error: { reason: 'executable_blocked', message: expect.stringContaining('"lib/word.txt"') },
  })
  const after = await open()
  expect(after.registry.find('text.count')).toBeUndefined()
  writeFileSync(join(dir, 'text.count', 'installed.json'), '{')
  expect(capletTools({ dir, publishers: { me: key } }).quarantined?.()).toMatchObject([
    { tool: 'text.count', message: expect.stringContaining('Install it again.') },
  ])
})

test('a caplet that writes asks, and writes only what it names; a secret of it is kept out of its result (NEXT-4)', async () => {
  const place = ready()
  const of = {
    tool: {
      ...tool,
      name: 'text.save',
      permission: 'write',
      command: './save.sh',
      args: [],
      output: 'text',
      secrets: ['CAPLET_TOKEN'],
      input_schema: { type: 'object', properties: {}, additionalProperties: false },
    },
    write: ['project'],
  }
  const packed = await pack(place, of, { 'save.sh': '#!/bin/sh\necho "$CAPLET_TOKEN" | tee saved.txt\n' })
  await run(place, 'caplet', 'install', packed)
  const { key } = keysOf(place)
  const person = personSaying('allow_once')
  const runtime = await openRuntime({
    project: place.project,
    secrets: { CAPLET_TOKEN: 'a-token-that-is-long-enough' },
    approve: person.approve,
    tools: [capletTools({ dir: join(place.home, 'caplets'), publishers: { me: key } })],
  })
  const result = await runtime.session().call('text.save', {})
  expect(result.ok).toBe(true)
  expect(JSON.stringify(result)).not.toContain('a-token-that-is-long-enough')
  expect(person.asked).toHaveLength(1)
  expect(readFileSync(join(place.project, 'saved.txt'), 'utf8')).toBe('a-token-that-is-long-enough\n')
})

test('a test that fails says what came (NEXT-4)', async () => {
  const place = ready()
  const wrong = { tool, tests: [{ ...tests[0], expect: { data: { words: 3 } } }] }
  const { code, stdout } = await run(place, 'caplet', 'test', makeCaplet(wrong, files))
  expect([code, stdout]).toEqual([
    1,
    expect.stringContaining(
      'fails counts: data: {"words":3} was expected, and {"words":2,"from":"lib"} came.',
    ),
  ])
})

test('what a person writes wrong is named, and a key that is open to others is not used (NEXT-4)', async () => {
  const place = ready()
  const faults: readonly (readonly [unknown, string])[] = [
    [
      { tool: { ...tool, permission: 'readonly' }, write: ['project'] },
      '/write: A tool that is readonly writes nothing.',
    ],
    [{ tool: { ...tool, env_allowlist: ['HOME'] } }, '/tool/env_allowlist: '],
    [{ tool: { ...tool, command: '/bin/cat' } }, '/tool/command: '],
    [{ tool: { ...tool, name: 'one' } }, '/tool/name: '],
    [{ tool, tests: [tests[0], tests[0]] }, 'Two tests have one name.'],
    [{ tool: { ...tool, command: './none.sh' } }, 'Its program "./none.sh" is not in it.'],
    [{}, 'tool'],
  ]
  await pack(place, source)
  for (const [of, says] of faults) {
    const { code, stderr } = await run(place, 'caplet', 'pack', makeCaplet(of, files))
    expect([code, stderr]).toEqual([2, expect.stringContaining(says)])
  }
  const config = { caplets: { publishers: { me: 'short' } } }
  writeFileSync(join(place.home, 'config.json'), JSON.stringify(config))
  expect((await run(place, 'caplet')).stderr).toContain('/caplets/publishers/me')
  writeFileSync(join(place.home, 'config.json'), '{}')
  chmodSync(join(place.home, 'publisher.key'), 0o644)
  const packed = await run(place, 'caplet', 'pack', makeCaplet(source, files))
  expect([packed.code, packed.stderr]).toEqual([2, expect.stringContaining('open to others')])
})
