import { existsSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { codeTools, resultText, type Configuration, type RuntimeOptions } from 'handrail'
import { expect, test, vi } from 'vitest'
import { keepOpen } from '../support/at-end.ts'
import { handrail, makePlace } from '../support/command-line.ts'
import { atBothDoors, atEitherDoor, type Answer, type Door, type OpenDoor } from '../support/job-doors.ts'
import { fakeFiles, fakeServer, realServer } from '../support/language-servers.ts'
import { findProcesses } from '../support/processes.ts'
import { makeFolder, openRuntime } from '../support/project.ts'
import { withEnoughTime } from '../support/with-enough-time.ts'

const project = {
  'tsconfig.json':
    '{ "compilerOptions": { "strict": true, "lib": ["es2022"], "types": [] }, "include": ["src"] }',
  'src/animals.ts': [
    'export interface Animal { speak(): string }',
    'export class Dog implements Animal {',
    '  speak(): string { return "🐕" }',
    '}',
    '/** Says hello. */',
    'export function greet(animal: Animal): string {',
    '  return animal.speak()',
    '}',
    '',
  ].join('\n'),
  'src/use.ts': [
    "import { Dog, greet } from './animals.ts'",
    'export const said = /* 🐕𝒳 */ greet(new Dog())',
    '',
  ].join('\n'),
}
const greet = { path: 'src/animals.ts', line: 6, character: 18 }

const ask = (door: Door, operation: string, input: Readonly<Record<string, unknown>> = {}) =>
  door.call('code.lsp', { operation, ...input })

/** Where things were found, as `path:line:column`. */
const places = ({ data }: Answer) =>
  (data['items'] as { path: string; line: number; character: number }[]).map(
    ({ path, line, character }) => `${path}:${line}:${character}`,
  )

const byServer = { source: 'language-server', server: 'typescript' }

/** Doors to a project whose language server is a real one, or one with this manner. */
const doorsOf = (open: OpenDoor) => ({
  openReal: () => open({ files: project, configuration: realServer }),
  openFake: (manner: string, options?: Parameters<typeof fakeServer>[1]) =>
    open({ files: fakeFiles, configuration: fakeServer(manner, options) }),
})

atBothDoors((open) => {
  const good = keepOpen(() => doorsOf(open).openFake('good'))

  test('what a language server answers comes through every door, as data and as text (FILE-11)', async () => {
    const place = { path: 'a.fake', line: 1, character: 10 }
    const hover = await ask(good(), 'hover', place)
    expect(hover).toMatchObject({ ok: true, data: { source: 'language-server', server: 'fake' } })
    expect(hover.text).toContain(hover.data['hover'])
    const references = await ask(good(), 'references', { ...place, limit: 7 })
    expect(places(references)).toHaveLength(7)
    expect(references.data).toMatchObject({ truncated: true })
    expect(references.text).toContain(places(references)[0])
  })
})

atEitherDoor((open) => {
  const { openReal, openFake } = doorsOf(open)
  const real = keepOpen(openReal)
  const good = keepOpen(() => openFake('good'))

  test('a real language server answers each kind of question (FILE-11)', async () => {
    const door = real()
    const definition = await ask(door, 'definition', { path: 'src/use.ts', line: 1, character: 15 })
    expect(definition.data).toMatchObject(byServer)
    expect(places(definition)).toEqual(['src/animals.ts:6:17'])
    expect(places(await ask(door, 'references', greet))).toEqual([
      'src/animals.ts:6:17',
      'src/use.ts:1:15',
      'src/use.ts:2:32',
    ])
    const hover = await ask(door, 'hover', greet)
    expect(hover.data['hover']).toContain('function greet(animal: Animal): string')
    expect(hover.data['hover']).toContain('Says hello.')
    const animal = { path: 'src/animals.ts', line: 1, character: 18 }
    expect(places(await ask(door, 'implementation', animal))).toEqual(['src/animals.ts:2:14'])
    const symbols = await ask(door, 'document_symbols', { path: 'src/animals.ts' })
    expect(symbols.data['items']).toMatchObject([
      { name: 'Animal', kind: 'interface' },
      { name: 'speak', kind: 'method', container: 'Animal' },
      { name: 'Dog', kind: 'class' },
      { name: 'speak', kind: 'method', container: 'Dog' },
      { name: 'greet', kind: 'function', line: 6 },
    ])
    const found = await ask(door, 'workspace_symbols', { query: 'greet' })
    expect(found.data).toMatchObject({ ...byServer, items: [{ name: 'greet', path: 'src/animals.ts' }] })
    expect(places(await ask(door, 'prepare_call_hierarchy', greet))).toEqual(['src/animals.ts:6:17'])
    const callers = await ask(door, 'incoming_calls', greet)
    expect(callers.data['items']).toMatchObject([{ path: 'src/use.ts', calls: [{ line: 2, character: 32 }] }])
    const callees = await ask(door, 'outgoing_calls', greet)
    expect(callees.data['items']).toMatchObject([{ name: 'speak', calls: [{ line: 7 }, { line: 7 }] }])
  })

  test('columns count in UTF-16 units, from 1 (FILE-11)', async () => {
    const door = real()
    const line = 'export const said = /* 🐕𝒳 */ greet(new Dog())'
    const character = line.indexOf('greet') + 1
    const first = await ask(door, 'definition', { path: 'src/use.ts', line: 2, character })
    expect(places(first)).toEqual(['src/animals.ts:6:17'])
    const before = await ask(door, 'definition', { path: 'src/use.ts', line: 2, character: character - 2 })
    expect(places(before)).toEqual([])
  })

  test('the next question sees what was edited, made and removed, whether or not it was asked about (FILE-11)', async () => {
    const door = real()
    expect(places(await ask(door, 'references', greet))).toHaveLength(3)
    const edit = {
      path: 'src/use.ts',
      edits: [{ old: 'greet(new Dog())\n', new: 'greet(new Dog()) + greet(new Dog())\n' }],
    }
    expect((await door.call('code.edit_file', edit)).ok).toBe(true)
    expect(places(await ask(door, 'references', greet))).toHaveLength(4)
    const content = "import { greet } from './animals.ts'\nexport const third = greet\n"
    expect((await door.call('code.write_file', { path: 'src/third.ts', content })).ok).toBe(true)
    expect(places(await ask(door, 'references', greet))).toHaveLength(6)
    // What is asked about moves down by two lines.
    const moved = {
      path: 'src/animals.ts',
      edits: [{ old: 'export interface', new: '//\n//\nexport interface' }],
    }
    expect((await door.call('code.edit_file', moved)).ok).toBe(true)
    const definition = await ask(door, 'definition', { path: 'src/use.ts', line: 1, character: 15 })
    expect(places(definition)).toEqual(['src/animals.ts:8:17'])
    rmSync(join(door.place.project, 'src/third.ts'))
    expect(places(await ask(door, 'references', { ...greet, line: 8 }))).toHaveLength(4)
  })

  test('without a server a search answers, and says why (FILE-11)', async () => {
    const door = await open({
      files: project,
      configuration: { languageServers: { typescript: { enabled: false } } },
    })
    const definition = await ask(door, 'definition', { path: 'src/use.ts', line: 1, character: 15 })
    expect(definition.data).toMatchObject({
      source: 'search',
      why: 'no language server is known for ".ts"',
    })
    expect(definition.text).toContain('by search: no language server is known')
    expect(places(definition)).toEqual(['src/animals.ts:6:17'])
    expect(places(await ask(door, 'references', greet)).toSorted()).toEqual([
      'src/animals.ts:6:17',
      'src/use.ts:1:15',
      'src/use.ts:2:32',
    ])
    expect((await ask(door, 'hover', greet)).data['hover']).toContain(
      '/** Says hello. */\nexport function greet',
    )
    const animal = { path: 'src/animals.ts', line: 1, character: 18 }
    expect(places(await ask(door, 'implementation', animal))).toEqual(['src/animals.ts:2:29'])
    const symbols = await ask(door, 'document_symbols', { path: 'src/animals.ts' })
    expect(symbols.data['items']).toMatchObject([
      { name: 'Animal', kind: 'interface' },
      { name: 'Dog', kind: 'class' },
      { name: 'greet', kind: 'function' },
    ])
    const found = await ask(door, 'workspace_symbols', { query: 'gree' })
    expect(found.data['items']).toMatchObject([{ name: 'greet', path: 'src/animals.ts' }])
    expect(places(await ask(door, 'incoming_calls', greet))).toEqual(['src/use.ts:2:32'])
    expect((await ask(door, 'outgoing_calls', greet)).data['items']).toMatchObject([
      { name: 'speak', line: 7 },
    ])
  })

  test('what is not installed is searched for, and an unknown ending too (FILE-11)', async () => {
    const configuration: Configuration = {
      languageServers: { none: { command: ['no-such-server'], extensions: ['.fake'] } },
    }
    const door = await open({ files: { ...fakeFiles, 'b.nothing': 'x' }, configuration })
    const missing = await ask(door, 'document_symbols', { path: 'a.fake' })
    expect(missing.data).toMatchObject({ source: 'search', why: '"no-such-server" is not installed' })
    expect(missing.data['items']).toMatchObject([{ name: 'first' }])
    const unknown = await ask(door, 'document_symbols', { path: 'b.nothing' })
    expect(unknown.data).toMatchObject({ why: 'no language server is known for ".nothing"', items: [] })
  })

  const hostile = [
    '$(touch pwned)',
    '`touch pwned`',
    '*; touch pwned #',
    '--pre=sh',
    '-f/etc/passwd',
    '.*',
    'gree.',
    '(?:',
    '\\w+',
    "'; touch pwned; '",
  ]

  test('a name is a text, whatever it would mean to a shell, an option or a pattern (FILE-11)', async () => {
    const configuration = { languageServers: { typescript: { enabled: false } } }
    for (const door of [real(), await open({ files: project, configuration })]) {
      for (const query of hostile) {
        const answer = await ask(door, 'workspace_symbols', { query })
        expect([query, answer.ok, answer.data['items']]).toEqual([query, true, []])
      }
      expect(existsSync(join(door.place.project, 'pwned'))).toBe(false)
    }
  })

  test('a symbol with characters of patterns is found as it is (FILE-11)', async () => {
    const files = { 'a.js': 'const $a$ = 1\nconst xa = $a$ + 2\nconst größe = $a\n' }
    const door = await open({ files, configuration: { languageServers: { typescript: { enabled: false } } } })
    const uses = await ask(door, 'references', { path: 'a.js', line: 1, character: 7 })
    expect(places(uses)).toEqual(['a.js:1:7', 'a.js:2:12'])
    const size = await ask(door, 'references', { path: 'a.js', line: 3, character: 9 })
    expect(places(size)).toEqual(['a.js:3:7'])
  })

  test('nothing outside of the roots is asked about (FILE-11)', async () => {
    const door = good()
    const outside = ['../outside.ts', '/etc/passwd', '/proc/self/environ'] as const
    for (const path of outside)
      expect(await ask(door, 'document_symbols', { path }), path).toMatchObject({
        ok: false,
        reason: 'path_outside_roots',
      })
    expect(await ask(door, 'document_symbols', { path: '~/x.ts' })).toMatchObject({
      ok: false,
      reason: 'file_not_found',
    })
  })

  test('a sensitive file is asked for, and a search leaves it out (FILE-8, FILE-11)', async () => {
    const door = await open({ files: { '.env': 'const secret = 1\n' }, says: 'deny' })
    expect(await ask(door, 'document_symbols', { path: '.env' })).toMatchObject({
      ok: false,
      reason: 'denied',
    })
    expect((await ask(door, 'workspace_symbols', { query: 'secret' })).data['items']).toEqual([])
  })

  test('each operation says what it needs (FILE-11)', async () => {
    const door = good()
    const lacking = [
      ['definition', { path: 'a.fake' }, 'line and character'],
      ['hover', { path: 'a.fake', line: 1 }, 'line and character'],
      ['document_symbols', {}, 'path'],
      ['workspace_symbols', {}, 'query'],
      ['definition', { path: 'a.fake', line: 0, character: 1 }, '/line'],
    ] as const
    for (const [operation, input, wanted] of lacking) {
      const answer = await ask(door, operation, input)
      expect(answer, operation).toMatchObject({ ok: false, reason: 'invalid_input' })
      expect(answer.text).toContain(wanted)
    }
  })
})

atEitherDoor((open) => {
  const { openFake } = doorsOf(open)
  const good = keepOpen(() => openFake('good'))
  const place = { path: 'a.fake', line: 1, character: 10 }

  test('a server is started once for a session, and ends with it (FILE-11)', async () => {
    const mark = `server-${Math.random().toString(36).slice(2)}`
    const door = await openFake('good', { mark })
    const first = await ask(door, 'hover', place)
    const [, name] = /^(\w+) asked 1 /.exec(first.data['hover'] as string) ?? []
    expect((await ask(door, 'hover', place)).data['hover']).toContain(`${name} asked 2`)
    expect(findProcesses(mark).length).toBeGreaterThan(0)
    await door.close()
    await vi.waitFor(() => expect(findProcesses(mark)).toEqual([]))
  })

  test.each([
    ['dead at once', 'it ended: exit code 3'],
    ['dead', 'it ended: exit code 7'],
    ['garbage', 'it wrote something that is not a message'],
    ['huge', 'it wrote a message of 9999999999 bytes'],
    ['endless', 'it wrote something that is not a message'],
    ['flood', 'it wrote without an end'],
  ])(
    'a server that is %s leaves the question to the search, and no process (FILE-11)',
    async (manner, why) => {
      const mark = `server-${Math.random().toString(36).slice(2)}`
      const door = await openFake(manner, { mark })
      const answer = await ask(door, 'hover', place)
      expect(answer.data).toMatchObject({ source: 'search', hover: 'function first() {' })
      expect(answer.data['why']).toBe(`the language server "fake" could not answer: ${why}`)
      await vi.waitFor(() => expect(findProcesses(mark)).toEqual([]))
    },
  )

  test('a server that does not answer is told so and waited for no longer than it may take (FILE-11)', async () => {
    await withEnoughTime(1_000, async (timeoutMs) => {
      const door = await openFake('silent once', { timeoutMs })
      const answer = await ask(door, 'hover', place)
      expect(answer.data).toMatchObject({ source: 'search' })
      expect(answer.data['why']).toMatch(/it did not answer "textDocument\/hover" in \d+ ms/)
      const next = await ask(door, 'hover', place)
      expect(next.data['hover']).toMatch(/ cancelled 1$/)
    })
  })

  test('a server that dies again and again is started so often and no more (FILE-11)', async () => {
    const door = await openFake('dead')
    for (let count = 0; count < 3; count++)
      expect((await ask(door, 'hover', place)).data['why']).toContain('exit code 7')
    expect((await ask(door, 'hover', place)).data).toMatchObject({
      source: 'search',
      why: expect.stringContaining('it ended 3 times in this session, and is not started again') as unknown,
    })
  })

  test('places outside, sensitive ones and links that lead out are left out of an answer (FILE-11)', async () => {
    const door = good()
    symlinkSync('/etc/passwd', join(door.place.project, 'link.fake'))
    const answer = await ask(door, 'definition', place)
    expect(places(answer)).toEqual(['a.fake:1:1'])
    expect(answer.data).toMatchObject({ source: 'language-server', left_out: 4 })
    expect(answer.text).not.toContain('passwd')
  })

  test('an answer has as many places as were asked for, and says that more follow (FILE-11)', async () => {
    const door = good()
    const answer = await ask(door, 'references', { ...place, limit: 7 })
    expect(places(answer)).toHaveLength(7)
    expect(answer.data).toMatchObject({ truncated: true })
    expect(places(await ask(door, 'references', place))).toHaveLength(100)
  })

  test('a server can neither write anywhere nor reach the network (FILE-11)', async () => {
    const door = await openFake('writing')
    const { data } = await ask(door, 'hover', place)
    expect(data['hover']).toMatch(/^(?:EROFS|EACCES) (?:EROFS|EACCES) (?:EROFS|EACCES) ENETUNREACH$/)
    expect(existsSync(join(door.place.project, 'pwned'))).toBe(false)
  })

  test('a server is waited for while it reads the project, and gets its settings (FILE-11)', async () => {
    const indexing = await openFake('indexing')
    expect((await ask(indexing, 'hover', place)).data['hover']).toContain('asked 1')
    const asking = await openFake('asking')
    expect((await ask(asking, 'hover', place)).data['hover']).toBe('["told"]')
  })

  test('where nothing isolates programs, no server is started (FILE-11)', async () => {
    const mark = `server-${Math.random().toString(36).slice(2)}`
    const door = await open({
      files: fakeFiles,
      configuration: { ...fakeServer('good', { mark }), sandbox: 'host' },
    })
    expect((await ask(door, 'hover', place)).data).toMatchObject({
      source: 'search',
      why: expect.stringContaining('commands are not isolated here') as unknown,
    })
    expect(findProcesses(mark)).toEqual([])
    const preflight = await openRuntime({ tools: [codeTools()], sandbox: 'host' })
    const result = await preflight.session().call('code.lsp', { operation: 'workspace_symbols', query: 'x' })
    expect([result.ok, result.metadata.sandbox]).toEqual([true, undefined])
  })

  test('a rule on programs holds for servers too (FILE-11)', async () => {
    const policy = { rules: [{ effect: 'deny' as const, tools: ['code.*'], argv: ['node', '**'] }] }
    const door = await open({ files: fakeFiles, configuration: fakeServer('good'), policy })
    expect(await ask(door, 'hover', place)).toMatchObject({ ok: false, reason: 'rule_denied' })
  })
})

const openLibrary = async (manner: string, options: RuntimeOptions = {}, mark = '') => {
  const { languageServers } = fakeServer(manner, { mark })
  return openRuntime({ project: makeFolder(fakeFiles), tools: [codeTools({ languageServers })], ...options })
}
const input = { operation: 'hover', path: 'a.fake', line: 1, character: 10 }

test('an abort ends the question, not the server (FILE-11)', async () => {
  const mark = `server-${Math.random().toString(36).slice(2)}`
  const runtime = await openLibrary('silent once', {}, mark)
  const session = runtime.session()
  const asked = session.call('code.lsp', input, { id: 'one' })
  await vi.waitFor(() => expect(findProcesses(`silent-${mark}`)).not.toEqual([]))
  session.abort('one', 'not needed')
  expect((await asked).error).toMatchObject({ code: 'TOOL.ABORTED', reason: 'aborted_by_user' })
  const next = await session.call('code.lsp', input)
  expect(next.data).toMatchObject({
    source: 'language-server',
    hover: expect.stringMatching(/cancelled 1$/) as unknown,
  })
})

test('sessions have servers of their own (FILE-11)', async () => {
  const runtime = await openLibrary('good')
  const [one, two] = [runtime.session(), runtime.session()]
  const hovers = await Promise.all([one, two, one].map((session) => session.call('code.lsp', input)))
  const [first, second, third] = hovers.map(({ data }) => (data as { hover: string }).hover.split(' ')[0])
  expect(first).toBe(third)
  expect(first).not.toBe(second)
})

test('a budget of time is not spent unseen: the search answers (BUD-1, FILE-11)', async () => {
  const budgets = [{ id: 'cpu', unit: 'cpuMs' as const, limit: 60_000, tools: ['code.*'] }]
  const runtime = await openLibrary('good', { policy: { budgets } })
  const result = await runtime.session().call('code.lsp', input)
  expect(result.data).toMatchObject({
    source: 'search',
    why: expect.stringContaining('The budget "cpu"') as unknown,
  })
})

test('the compatible presentation is the same tool (NAME-6, FILE-11)', async () => {
  const runtime = await openLibrary('good')
  const session = runtime.session()
  const compatible = { operation: 'goToDefinition', file_path: 'a.fake', line: 1, character: 10 }
  const result = await session.call('LSP', compatible, { presentation: 'compatible' })
  expect(result).toMatchObject({ ok: true, tool: 'code.lsp', data: { operation: 'definition' } })
  expect(result.metadata.tool).toEqual({ source: 'language-server', server: 'fake' })
  expect(resultText(result)).toContain('a.fake:1:1')
})

test('a preflight and the evidence name the program that would be asked (FILE-11)', async () => {
  const runtime = await openLibrary('good')
  const { plan, effect, sandbox } = await runtime.session().preflight('code.lsp', input)
  expect(effect).toBe('allow')
  expect(sandbox).toContain('bubblewrap')
  expect(plan?.operations).toMatchObject([
    { kind: 'fs.read', path: runtime.project, recursive: true },
    { kind: 'fs.read', path: join(runtime.project, 'a.fake') },
    { kind: 'process', argv: ['node', 'fake-server.mjs', 'good', ''], cwd: runtime.project },
  ])
})

test('a server that is not known has to be described, wherever it is configured (CFG-1, FILE-11)', async () => {
  const languageServers = { mine: { command: ['mine'] } }
  expect(() => codeTools({ languageServers })).toThrow(
    /\/languageServers\/mine\/extensions: "mine" is none of/,
  )
  const place = makePlace(
    {},
    { 'config.json': { languageServers: { go: { extensions: ['go'] }, ...languageServers } } },
  )
  const { code, stderr } = await handrail(place, ['tools'])
  expect(code).not.toBe(0)
  expect(stderr).toContain('/languageServers/go/extensions/0')
  writeFileSync(join(place.home, 'config.json'), JSON.stringify({ languageServers }))
  expect((await handrail(place, ['tools'])).stderr).toContain('give its extensions')
})
