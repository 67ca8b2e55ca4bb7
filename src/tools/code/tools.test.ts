import { execFileSync } from 'node:child_process'
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { ToolFailure } from '../../contract/base/errors.ts'
import type { JsonObject } from '../../contract/base/json.ts'
import type { Plan } from '../../contract/tool/plan.ts'
import type { Profile } from '../../contract/base/profile.ts'
import type { Artifact, ToolOutput } from '../../contract/base/result.ts'
import type { ArtifactSink, Sandbox } from '../../contract/services/sandbox.ts'
import type { Tool, ToolContext } from '../../contract/tool/tool.ts'
import { fileDigest } from '../../kit/json/digest.ts'
import { isToolOutput } from '../../kit/result/tool-output.ts'
import { createHostSandbox } from '../../sandboxes/host/create-host-sandbox.ts'
import { ignoredNote } from './files/plan-look.ts'
import { codeTools } from './tools.ts'
import { startProcessorClock } from '../../../test/support/processor-clock.ts'

let root: string
let project: string
let sandbox: Sandbox
let artifacts: Map<string, Buffer>
let progress: string[]

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'code-tools-')))
  project = join(root, 'project')
  mkdirSync(project)
  artifacts = new Map()
  progress = []
  const env = { PATH: process.env['PATH'] ?? '', HOME: root }
  sandbox = createHostSandbox({ project, env, home: root })
})

afterEach(async () => {
  await sandbox.close()
  rmSync(root, { recursive: true, force: true })
})

function put(path: string, content: string | Buffer): string {
  const absolute = join(project, path)
  mkdirSync(dirname(absolute), { recursive: true })
  writeFileSync(absolute, content)
  return absolute
}

const get = (path: string) => readFileSync(join(project, path), 'utf8')

function tool(name: string): Tool {
  const found = codeTools().find(({ definition }) => definition.name === `code.${name}`)
  if (found === undefined) throw new Error(`There is no tool "${name}".`)
  return found
}

const sink: ArtifactSink = {
  open({ mimeType }) {
    const parts: Uint8Array[] = []
    return {
      write: (bytes) => void parts.push(Uint8Array.from(bytes)),
      async finish(): Promise<Artifact> {
        const bytes = Buffer.concat(parts)
        artifacts.set(fileDigest(bytes), bytes)
        return { digest: fileDigest(bytes), bytes: bytes.length, mimeType }
      },
      async abandon() {},
    }
  },
}

interface Options {
  signal?: AbortSignal
  sensitiveGlobs?: readonly string[]
  /** Runs between plan and run, as the wait for a person does. */
  between?: () => void
  compatible?: boolean
}

interface Called extends ToolOutput {
  plan: Plan
  text: string
}

/** The way of a call as the pipeline goes it, without policy: presentation, defaults, decode, plan, run. */
async function call(name: string, given: JsonObject, options: Options = {}): Promise<Called> {
  const called = tool(name)
  const { definition, compatible } = called
  const shaped = options.compatible === true ? (compatible?.toCanonical(given) ?? given) : given
  const defaults = Object.entries(definition.inputSchema.properties ?? {}).filter(
    ([, field]) => field.default !== undefined,
  )
  const input: JsonObject = {
    ...Object.fromEntries(defaults.map(([field, schema]) => [field, schema.default ?? null])),
    ...shaped,
  }
  const access = definition.permission === 'write' ? 'write' : 'read'
  const signal = options.signal ?? new AbortController().signal
  const profile: Profile = {
    readRoots: [project],
    writeRoots: access === 'write' ? [project] : [],
    hosts: [],
    executables: definition.capabilities.proc.executables,
    browser: false,
    tmp: false,
    secrets: [],
    timeoutMs: definition.limits.timeoutMs ?? 0,
    maxBytesIn: definition.limits.maxBytesIn,
    maxBytesOut: definition.limits.maxBytesOut,
    digest: '',
  }
  const principal = { tenant: 'local', actor: 'user', role: 'main' } as const
  const decoded = called.decode?.(input)
  const plan = await called.plan?.(decoded, {
    principal,
    project,
    writable: [],
    ...sandbox.enter(profile, { access: 'read' }),
  })
  if (plan === undefined) throw new Error('Every tool here plans.')
  options.between?.()
  const context: ToolContext = {
    callId: 'call',
    toolCallId: 'call',
    settings: {},
    session: 'session',
    principal,
    project,
    signal,
    sensitiveGlobs: options.sensitiveGlobs ?? [],
    artifactSink: sink,
    planned: plan.planned,
    progress: ({ message }) => void progress.push(message ?? ''),
    followOutput: () => ({ add: ({ text }) => void progress.push(text), end: () => {} }),
    artifact: () => Promise.reject(new Error('not used')),
    secret: () => '',
    idempotencyKey: undefined,
    counterpart: () => {},
    canElicit: false,
    elicit: async () => ({ action: 'decline' }),
    awaitPerson: (work) => work(),
    instructions: { covers: () => false, found: () => {} },
    ...sandbox.enter(profile, { access, signal: () => signal }),
  }
  const output = await called.run(decoded, context)
  if (!isToolOutput(output)) throw new Error('Every tool here gives a full output.')
  const text = output.content.map((block) => (block.type === 'text' ? block.text : '')).join('')
  return { ...output, plan, text }
}

async function failure(name: string, input: JsonObject, options: Options = {}): Promise<ToolFailure> {
  try {
    await call(name, input, options)
  } catch (error) {
    if (error instanceof ToolFailure) return error
    throw error
  }
  throw new Error('It did not fail.')
}

test('lists the tools in order of their names, each with a full manifest (DEF-1)', () => {
  const names = codeTools().map(({ definition }) => definition.name)
  expect(names).toEqual([...names].sort())
  for (const { definition } of codeTools()) {
    expect(definition.inputSchema.additionalProperties).toBe(false)
    expect(definition.outputSchema).toBeDefined()
    expect(definition.consent.required).toBe(definition.permission === 'write')
  }
  expect(codeTools().map(({ compatible }) => compatible?.name)).toEqual([
    undefined,
    undefined,
    'Edit',
    'NotebookEdit',
    'EnterWorktree',
    'ExitWorktree',
    'Glob',
    'LS',
    'LSP',
    undefined,
    'Read',
    undefined,
    'Grep',
    undefined,
    'Write',
  ])
})

// read_file

test('reads numbered lines and says where to go on (FILE-1)', async () => {
  put('a.txt', Array.from({ length: 300 }, (_, i) => `line ${i + 1}\n`).join(''))
  const first = await call('read_file', { path: 'a.txt' })
  expect(first.text.split('\n')[0]).toBe('1\tline 1')
  expect(first.text).toContain('[More lines follow: go on from line 201.]')
  expect(first.data).toMatchObject({ lines: 200, truncated: true, next_start_line: 201, line_endings: 'lf' })
  expect(first.data).not.toHaveProperty('total_lines')
  const rest = await call('read_file', { path: 'a.txt', start_line: 201, max_lines: 1_000 })
  expect(rest.data).toMatchObject({ lines: 100, truncated: false, total_lines: 300, final_newline: true })
  expect(rest.plan.operations).toEqual([{ kind: 'fs.read', path: join(project, 'a.txt') }])
})

test('cuts long lines at 4096 bytes and names them (FILE-1)', async () => {
  put('a.txt', `short\n${'é'.repeat(3_000)}\n`)
  const { data, text } = await call('read_file', { path: 'a.txt' })
  expect(data).toMatchObject({ truncated_lines: [2], content: `short\n${'é'.repeat(2_048)}\n` })
  expect(text).toContain('[Cut at 4096 bytes: line 2.]')
})

test('gives a thousand lines of 4096 bytes, and fewer where escapes would make the result too large (FILE-1)', async () => {
  put('a.txt', `${'x'.repeat(5_000)}\n`.repeat(1_001))
  const plain = await call('read_file', { path: 'a.txt', max_lines: 1_000 })
  expect(plain.data).toMatchObject({ lines: 1_000, next_start_line: 1_001 })
  expect(plain.text.length + JSON.stringify(plain.data).length).toBeLessThan(8 * 1024 * 1024)
  put('b.txt', `${'\x01'.repeat(5_000)}\n`.repeat(1_001))
  const escaped = await call('read_file', { path: 'b.txt', max_lines: 1_000 })
  expect(escaped.text.length + JSON.stringify(escaped.data).length).toBeLessThan(8 * 1024 * 1024)
  expect(escaped.data).toMatchObject({ truncated: true, next_start_line: expect.any(Number) })
})

test('keeps what the file has: CRLF, a byte order mark apart, no newline at its end (FILE-1)', async () => {
  put('a.txt', '\uFEFFa\r\nb')
  const { data, text } = await call('read_file', { path: 'a.txt' })
  expect(data).toMatchObject({ content: 'a\r\nb', bom: true, line_endings: 'crlf', final_newline: false })
  expect(text).toBe('1\ta\n2\tb\n[Line endings: CRLF.]\n[No newline at end of file.]')
  put('b.txt', Buffer.from('\uFEFFgrüß\n', 'utf16le'))
  expect((await call('read_file', { path: 'b.txt' })).data).toMatchObject({
    content: 'grüß\n',
    encoding: 'utf-16le',
  })
  put('c.txt', 'a\rb\r')
  expect((await call('read_file', { path: 'c.txt', start_line: 2 })).data).toMatchObject({
    content: 'b\r',
    line_endings: 'cr',
  })
  put('d.txt', Buffer.from('un caf\xe9 noir, deux caf\xe9s au lait\n', 'latin1'))
  expect((await call('read_file', { path: 'd.txt' })).data).toMatchObject({ broken_characters: true })
})

test('answers for an empty file and a line past the end (FILE-1)', async () => {
  put('empty', '')
  const empty = await call('read_file', { path: 'empty' })
  expect(empty.text).toBe('[empty is empty.]')
  expect(empty.data).toMatchObject({ lines: 0, total_lines: 0, truncated: false, content: '' })
  put('a.txt', 'a\nb\n')
  const past = await call('read_file', { path: 'a.txt', start_line: 9 })
  expect(past.text).toBe('[a.txt has 2 lines; line 9 lies past its end.]')
})

test('gives type, size and digest of a binary file, no content (FILE-1)', async () => {
  const bytes = Buffer.from('\x89PNG\r\n\x1a\n\0\0\0', 'latin1')
  put('a.png', bytes)
  const found = await failure('read_file', { path: 'a.png' })
  expect(found.reason).toBe('binary_file')
  expect(found.data).toEqual({
    path: 'a.png',
    bytes: bytes.length,
    kind: 'image/png',
    digest: fileDigest(bytes),
  })
})

test('refuses a sparse file of 10 GiB at once (FS-55)', async () => {
  truncateSync(put('big', ''), 10 * 1024 ** 3)
  const spentMs = startProcessorClock()
  const found = await failure('read_file', { path: 'big' })
  expect(found.reason).toBe('binary_file')
  expect(found.data).toMatchObject({ bytes: 10 * 1024 ** 3 })
  expect(spentMs()).toBeLessThan(2_000)
})

test('names near files where there is none, and knows a directory (FILE-1)', async () => {
  put('src/server.ts', '')
  const missing = await failure('read_file', { path: 'src/servers.ts' })
  expect(missing.reason).toBe('file_not_found')
  expect(missing.data).toEqual({ path: 'src/servers.ts', nearest: ['src/server.ts'] })
  expect((await failure('read_file', { path: 'lib/x.ts' })).message).toContain('no directory "lib"')
  expect((await failure('read_file', { path: 'src' })).reason).toBe('not_a_file')
})

test('refuses a pipe without waiting for it (FS-54)', async () => {
  execFileSync('mkfifo', [join(project, 'pipe')])
  expect((await failure('read_file', { path: 'pipe' })).reason).toBe('special_file')
})

test('maps the compatible fields of Read (FILE-1)', async () => {
  put('a.txt', 'x\n'.repeat(3_000))
  expect((await call('read_file', { file_path: 'a.txt' }, { compatible: true })).data).toMatchObject({
    lines: 1_000,
  })
  const some = await call('read_file', { file_path: 'a.txt', offset: 10, limit: 2_000 }, { compatible: true })
  expect(some.data).toMatchObject({ start_line: 10, lines: 1_000, next_start_line: 1_010 })
})

test('refuses a file that became a link after it was checked (FS-32)', async () => {
  const path = put('a.txt', 'a\n')
  put('.env', 'SECRET=1\n')
  const between = () => {
    rmSync(path)
    symlinkSync('.env', path)
  }
  expect((await failure('read_file', { path: 'a.txt' }, { between })).reason).toBe('stale_preview')
  expect((await failure('read_file', { path: '../outside' })).reason).toBe('path_outside_roots')
})

// list_dir, glob, search

test('says how many there are, in words that fit the number', async () => {
  put('a.txt', 'x\n')
  expect((await call('search', { query: 'x' })).summary).toBe('1 match')
  expect((await call('glob', { pattern: '*.txt' })).summary).toBe('1 file for *.txt')
  expect((await call('list_dir', {})).summary).toBe('1 entry in .')
  put('b.txt', 'x\nx\n')
  expect((await call('search', { query: 'x' })).summary).toBe('3 matches')
  expect((await call('search', { query: 'x', mode: 'files', limit: 1 })).summary).toBe('1 file, more follow')
  expect((await call('list_dir', { limit: 1 })).summary).toBe('1 entry, more follow, in .')
})

test('lists a directory, without and with what is below (FILE-2)', async () => {
  put('b/c/d.txt', 'four')
  put('a.txt', '12345')
  symlinkSync('a.txt', join(project, 'link'))
  const flat = await call('list_dir', {})
  expect(flat.text).toBe('a.txt\t5\nb/\nlink@')
  const deep = await call('list_dir', { recursive: true })
  expect(deep.text).toBe('a.txt\t5\nb/\nb/c/\nb/c/d.txt\t4\nlink@')
  expect(deep.plan.operations).toEqual([{ kind: 'fs.read', path: project, recursive: true }])
})

test('lists upper levels first and says that more is there (FILE-2, FS-63)', async () => {
  for (const name of ['a/1', 'a/2', 'b/1', 'c']) put(name, '')
  const { data, text } = await call('list_dir', { recursive: true, limit: 4 })
  expect(data).toMatchObject({ truncated: true })
  expect(text.split('\n').slice(0, 4)).toEqual(['a/', 'a/1\t0', 'b/', 'c\t0'])
})

test('names a sensitive directory and does not enter it (FILE-8)', async () => {
  put('.env/inner', 'x')
  put('src/a.txt', '')
  const sensitiveGlobs = ['**/.env', '**/.env/**']
  const listed = await call('list_dir', { recursive: true }, { sensitiveGlobs })
  expect(listed.data).toMatchObject({ not_entered: ['.env'] })
  expect(listed.text).not.toContain('inner')
  expect(listed.text).toContain('[Sensitive, not entered: .env]')
  expect((await call('list_dir', { path: '.env' }, { sensitiveGlobs })).text).toContain('inner')
})

test('does not follow a link into a circle (FS-64)', async () => {
  put('d/a', '')
  symlinkSync('..', join(project, 'd/loop'))
  expect((await call('list_dir', { recursive: true })).text).toBe('d/\nd/a\t0\nd/loop@')
})

test('finds files by glob, newest first (FILE-4)', async () => {
  for (const [index, name] of ['old.ts', 'sub/new.ts', 'x.js'].entries())
    utimesSync(put(name, ''), 1_000, 1_000 + index)
  const { data, text } = await call('glob', { pattern: '*.ts' })
  expect(text).toBe('sub/new.ts\nold.ts')
  expect(data).toEqual({ files: ['sub/new.ts', 'old.ts'], truncated: false, excluded: [] })
  expect((await call('glob', { pattern: '*.none' })).text).toBe(`[No file matches *.none]\n${ignoredNote}`)
  expect((await call('glob', { pattern: '*.ts', limit: 1 })).data).toMatchObject({
    files: ['sub/new.ts'],
    truncated: true,
  })
})

test('answers a hostile glob at once (FS-67)', async () => {
  put('a'.repeat(60), '')
  const spentMs = startProcessorClock()
  expect((await call('glob', { pattern: `${'*a'.repeat(12)}b` })).data).toMatchObject({ files: [] })
  expect(spentMs()).toBeLessThan(2_000)
})

test('searches content with context, files and counts (FILE-3)', async () => {
  put('a.txt', 'one\ntwo\nthree\nfour\nfive\ntwo\n')
  put('sub/b.txt', 'TWO\n')
  const content = await call('search', { query: 'two', before: 1 })
  expect(content.text).toBe('a.txt\n1-one\n2:two\n--\n5-five\n6:two')
  expect((await call('search', { query: 'two', mode: 'files', case_insensitive: true })).text).toBe(
    'a.txt\nsub/b.txt',
  )
  expect((await call('search', { query: 'two', mode: 'count' })).text).toBe('a.txt: 2')
  expect((await call('search', { query: 'one\\ntwo', multiline: true })).data).toMatchObject({
    hits: [{ line: 1 }, { line: 2 }],
  })
  expect((await call('search', { query: 'nothing' })).text).toBe(`[No match]\n${ignoredNote}`)
  expect((await call('search', { query: 'o', limit: 2 })).data).toMatchObject({ truncated: true })
})

test('searches for text that looks like an option (SR-02)', async () => {
  put('a.txt', 'x --pre=sh y\n')
  expect((await call('search', { query: '--pre=sh' })).text).toBe('a.txt\n1:x --pre=sh y')
  expect((await failure('search', { query: '(' })).reason).toBe('invalid_pattern')
})

test('leaves out sensitive files and says so, but searches one that was asked for by name (FILE-8)', async () => {
  put('.env', 'TOKEN=1\n')
  put('a.txt', 'TOKEN\n')
  const sensitiveGlobs = ['**/.env', '**/.env/**']
  const everywhere = await call('search', { query: 'TOKEN' }, { sensitiveGlobs })
  expect(everywhere.text).toBe(
    'a.txt\n1:TOKEN\n[Sensitive paths, such as .env files and keys, were left out.]',
  )
  expect(everywhere.data).toMatchObject({ excluded: sensitiveGlobs })
  const named = await call('search', { query: 'TOKEN', path: '.env' }, { sensitiveGlobs })
  expect(named.text).toContain('.env\n1:TOKEN=1')
  expect(named.plan.operations).toEqual([{ kind: 'fs.read', path: join(project, '.env'), recursive: false }])
  expect((await call('glob', { pattern: '*' }, { sensitiveGlobs })).data).toMatchObject({ files: ['a.txt'] })
})

test('maps the compatible fields of Grep (FILE-3)', async () => {
  put('a.txt', 'one\nTwo\nthree\n')
  const presentation = { compatible: true }
  expect((await call('search', { pattern: 'two', '-i': true }, presentation)).text).toBe('a.txt')
  const content = { pattern: 'Two', output_mode: 'content', '-C': 50, '-n': true, head_limit: 0 }
  expect((await call('search', content, presentation)).text).toBe('a.txt\n1-one\n2:Two\n3-three')
})

test('fails where there is nothing to search or list (FILE-2, FILE-3)', async () => {
  for (const [name, input] of [
    ['search', { query: 'x', path: 'none' }],
    ['glob', { pattern: '*', path: 'none' }],
    ['list_dir', { path: 'none' }],
  ] as const) {
    expect((await failure(name, input)).reason).toBe('file_not_found')
  }
  expect((await failure('search', { query: 'x', path: '/etc' })).reason).toBe('path_outside_roots')
})

// write_file

test('writes a new file and its directories (FILE-5)', async () => {
  const { data, plan, text } = await call('write_file', { path: 'src/a.txt', content: 'a\nb\n' })
  expect(get('src/a.txt')).toBe('a\nb\n')
  expect(text).toBe('Created src/a.txt (+2 -0 lines, 4 bytes).')
  expect(data).toMatchObject({
    path: 'src/a.txt',
    created: true,
    unchanged: false,
    bytes: 4,
    digest: fileDigest('a\nb\n'),
  })
  expect(plan.operations).toEqual([{ kind: 'fs.write', path: join(project, 'src/a.txt') }])
  expect(plan.scope).toBe(join(project, 'src'))
  expect(plan.preview).toEqual({
    kind: 'diff',
    title: 'Create src/a.txt (+2 -0)',
    body: '--- /dev/null\n+++ b/src/a.txt\n@@ -0,0 +1,2 @@\n+a\n+b\n',
  })
})

test('refuses to overwrite unless asked, before anybody is asked (FILE-5)', async () => {
  put('a.txt', 'old\n')
  let planned = false
  const between = () => void (planned = true)
  expect((await failure('write_file', { path: 'a.txt', content: 'new\n' }, { between })).reason).toBe(
    'path_conflict',
  )
  expect(planned).toBe(false)
  const { plan, data } = await call('write_file', { path: 'a.txt', content: 'new\n', overwrite: true })
  expect(plan.preview?.body).toContain('-old\n+new\n')
  expect(data).toMatchObject({ created: false, unchanged: false })
  expect(get('a.txt')).toBe('new\n')
  const same = await call('write_file', { file_path: 'a.txt', content: 'new\n' }, { compatible: true })
  expect(same.data).toMatchObject({ unchanged: true })
})

test('writes only what was previewed: a file that changed meanwhile is refused (FILE-5)', async () => {
  const path = put('a.txt', 'old\n')
  const between = () => writeFileSync(path, 'other\n')
  expect(
    (await failure('write_file', { path: 'a.txt', content: 'new\n', overwrite: true }, { between })).reason,
  ).toBe('stale_preview')
  expect(
    (
      await failure(
        'write_file',
        { path: 'a.txt', content: 'other\n', overwrite: true },
        { between: () => writeFileSync(path, 'x') },
      )
    ).reason,
  ).toBe('stale_preview')
  const appears = () => void put('new.txt', 'theirs')
  expect(
    (await failure('write_file', { path: 'new.txt', content: 'mine' }, { between: appears })).reason,
  ).toBe('path_conflict')
  expect(get('new.txt')).toBe('theirs')
})

test('writes only inside the roots, also by links planted meanwhile (FILE-9)', async () => {
  mkdirSync(join(root, 'outside'))
  symlinkSync(join(root, 'outside'), join(project, 'out'))
  for (const path of ['../x', '/etc/x', 'out/x']) {
    expect((await failure('write_file', { path, content: '' })).reason).toBe('write_outside_allowed_roots')
  }
  mkdirSync(join(project, 'd'))
  const between = () => {
    rmSync(join(project, 'd'), { recursive: true })
    symlinkSync(join(root, 'outside'), join(project, 'd'))
  }
  expect((await failure('write_file', { path: 'd/x', content: '' }, { between })).reason).toBe(
    'write_outside_allowed_roots',
  )
  expect(execFileSync('ls', [join(root, 'outside')]).toString()).toBe('')
})

test('makes no directory where that was not asked for, and shows that a binary file is replaced (FILE-5)', async () => {
  let planned = false
  const between = () => void (planned = true)
  const input = { path: 'no/a.txt', content: '', create_dirs: false }
  expect((await failure('write_file', input, { between })).reason).toBe('file_not_found')
  expect(planned).toBe(false)
  put('b.bin', Buffer.from([0, 1, 2]))
  const { plan } = await call('write_file', { path: 'b.bin', content: 'text\n', overwrite: true })
  expect(plan.preview?.body).toContain('The file is binary now: 3 bytes, sha256:')
  expect((await failure('write_file', { path: 'c', content: 'a\ud800' })).reason).toBe('invalid_input')
  expect((await failure('write_file', { path: '.', content: '', overwrite: true })).reason).toBe('not_a_file')
})

// edit_file

test('edits a file by exact replacements, all or nothing (FILE-6)', async () => {
  put('a.txt', 'a\nb\nc\n')
  const edits = [
    { old: 'a', new: '$&' },
    { old: 'c', new: 'C' },
  ]
  const { plan, text } = await call('edit_file', { path: 'a.txt', edits })
  expect(get('a.txt')).toBe('$&\nb\nC\n')
  expect(plan.preview?.body).toBe('--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n-a\n+$&\n b\n-c\n+C\n')
  expect(text).toBe('Changed a.txt (+2 -2 lines, 7 bytes).')
  const half = [
    { old: 'b', new: 'B' },
    { old: 'zz', new: '' },
  ]
  expect((await failure('edit_file', { path: 'a.txt', edits: half })).reason).toBe('text_not_found')
  expect(get('a.txt')).toBe('$&\nb\nC\n')
})

test('edits a file by a unified diff (FILE-6)', async () => {
  put('src/a.txt', 'a\nb\n')
  const diff = (name: string) => `--- a/${name}\n+++ b/${name}\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n`
  expect((await failure('edit_file', { path: 'src/a.txt', unified_diff: diff('a.txt') })).reason).toBe(
    'patch_path_mismatch',
  )
  await call('edit_file', { path: 'src/a.txt', unified_diff: diff('src/a.txt') })
  expect(get('src/a.txt')).toBe('a\nc\n')
  expect((await failure('edit_file', { path: 'src/a.txt', unified_diff: diff('src/a.txt') })).reason).toBe(
    'patch_apply_failed',
  )
})

test('takes exactly one of edits and unified_diff, and one edit at least that has an effect (FILE-6)', async () => {
  put('a.txt', 'a\n')
  const edits = [{ old: 'a', new: 'b' }]
  const inputs: JsonObject[] = [{}, { edits, unified_diff: 'x' }, { edits: [{ old: 'a', new: 'a' }] }]
  for (const input of inputs) {
    const found = await failure('edit_file', { path: 'a.txt', ...input })
    expect([found.code, found.reason]).toEqual(['SCHEMA.VALIDATION_FAILED', 'invalid_input'])
  }
  put('b.txt', 'a\nb\n')
  const idle = { old: 'a', new: 'a' }
  await call('edit_file', { path: 'b.txt', edits: [idle, { old: 'b', new: 'c' }] })
  expect(get('b.txt')).toBe('a\nc\n')
  const absent = [
    { old: 'z', new: 'z' },
    { old: 'c', new: 'd' },
  ]
  expect((await failure('edit_file', { path: 'b.txt', edits: absent })).reason).toBe('text_not_found')
})

test('keeps CRLF, a byte order mark and UTF-16 (FILE-6, FS-61)', async () => {
  put('a.txt', '\uFEFFa\r\nb\r\n')
  await call('edit_file', { path: 'a.txt', edits: [{ old: 'a\nb', new: 'a\nx\nb' }] })
  expect(get('a.txt')).toBe('\uFEFFa\r\nx\r\nb\r\n')
  put('b.txt', Buffer.from('\uFEFFa\r\nb', 'utf16le'))
  await call('edit_file', { path: 'b.txt', edits: [{ old: 'b', new: 'ü' }] })
  expect(readFileSync(join(project, 'b.txt'))).toEqual(Buffer.from('\uFEFFa\r\nü', 'utf16le'))
  put('c.bin', Buffer.from('caf\xe9', 'latin1'))
  expect((await failure('edit_file', { path: 'c.bin', edits: [{ old: 'c', new: 'C' }] })).reason).toBe(
    'binary_file',
  )
})

test('creates a file only where that was asked for (FILE-6)', async () => {
  put('near.txt', '')
  const edits = [{ old: '', new: 'hello\n' }]
  const missing = await failure('edit_file', { path: 'neer.txt', edits })
  expect(missing.data).toMatchObject({ nearest: ['near.txt'] })
  await call('edit_file', { path: 'd/new.txt', edits, create_if_missing: true })
  expect(get('d/new.txt')).toBe('hello\n')
  await call('edit_file', { file_path: 'new2.txt', old_string: '', new_string: 'hi' }, { compatible: true })
  expect(get('new2.txt')).toBe('hi')
  const compatible = { file_path: 'new2.txt', old_string: 'h', new_string: 'H', replace_all: true }
  await call('edit_file', compatible, { compatible: true })
  expect(get('new2.txt')).toBe('Hi')
})

test('refuses an edit whose file changed after the preview (FILE-6)', async () => {
  const path = put('a.txt', 'a\nb\n')
  const edits = [{ old: 'a', new: 'x' }]
  const between = () => writeFileSync(path, 'a\nother\n')
  expect((await failure('edit_file', { path: 'a.txt', edits }, { between })).reason).toBe('stale_preview')
  expect(get('a.txt')).toBe('a\nother\n')
})

// run_command

test('runs a program by its arguments, without a shell (FILE-7)', async () => {
  const output = await call('run_command', {
    argv: ['printf', '%s|', 'a b', '$(id)', '*'],
    description: 'a test\nof it',
  })
  expect(output.error).toBeUndefined()
  expect(output.text).toMatch(/^\[exit code 0 after \d+\.\d s\]\na b\|\$\(id\)\|\*\|$/)
  const { preview, operations, scope } = output.plan
  const printf = realpathSync(execFileSync('which', ['printf']).toString().trim())
  expect(operations).toEqual([
    { kind: 'process', executable: printf, argv: ['printf', '%s|', 'a b', '$(id)', '*'], cwd: project },
  ])
  expect(scope).toBe(`${printf} in ${project}`)
  expect(preview?.body.split('\n')).toEqual([
    "printf '%s|' 'a b' '$(id)' '*'",
    `in ${project}`,
    `program ${printf}`,
    'said to be for: a test of it',
  ])
  expect(progress.join('')).toBe('a b|$(id)|*|')
})

test('fails with the exit code, all output kept (FILE-7)', async () => {
  const { error, text, data } = await call('run_command', {
    argv: ['sh', '-c', 'echo out; echo bad news >&2; exit 3'],
  })
  expect(error).toMatchObject({ code: 'TOOL.FAILED', reason: 'exit_code', data: { exit_code: 3 } })
  expect(error?.message).toMatch(/ended with exit code 3: bad news$/)
  expect(text).toContain('out\n[stderr]\nbad news')
  expect(data).toMatchObject({ exit_code: 3, ended: 'exit', survivors: [] })
})

test('keeps head and tail of large output, the whole in an artifact (FILE-7, OUT-2)', async () => {
  const output = await call('run_command', { argv: ['seq', '1', '100000'] })
  const [artifact] = output.artifacts ?? []
  const whole = execFileSync('seq', ['1', '100000'])
  expect(artifact?.bytes).toBe(whole.length)
  expect(artifacts.get(artifact?.digest ?? '')).toEqual(whole)
  expect(output.content.at(-1)).toMatchObject({ type: 'artifact_ref' })
  expect(output.text).toMatch(
    /\n1\n2\n[^]*… \d+ of 588895 bytes left out here; the whole is artifact sha256:[^]*\n100000$/,
  )
  expect(output.data).toMatchObject({ stdout: { truncated: true, bytes: whole.length } })
  expect(Buffer.byteLength(output.text)).toBeLessThan(66_000)
})

test('ends the program at its time limit and keeps what it wrote (FILE-7)', async () => {
  const { error, text } = await call('run_command', {
    argv: ['sh', '-c', 'echo begun; sleep 600 & sleep 600'],
    timeout_ms: 400,
  })
  expect(error).toMatchObject({ code: 'TOOL.TIMEOUT', reason: 'timed_out' })
  expect(text).toContain('begun')
})

test.each([
  ['aborted_by_user', 'TOOL.ABORTED'],
  ['run_cancelled', 'TOOL.ABORTED'],
  ['timeout', 'TOOL.TIMEOUT'],
])('ends the program when the call is ended by %s, with its partial output (SCHED-6)', async (why, code) => {
  const controller = new AbortController()
  const running = call(
    'run_command',
    { argv: ['sh', '-c', 'echo begun; sleep 60'] },
    { signal: controller.signal },
  )
  while (!progress.join('').includes('begun')) await new Promise((resolve) => setTimeout(resolve, 10))
  controller.abort(why)
  const { error, text } = await running
  expect(error).toMatchObject({ code, reason: why === 'timeout' ? 'timed_out' : why })
  expect(text).toContain('begun')
})

test('refuses what cannot be run, before anybody is asked (FILE-7)', async () => {
  put('a.txt', 'x')
  let planned = false
  const between = () => void (planned = true)
  const refused = async (input: JsonObject) => (await failure('run_command', input, { between })).reason
  expect(await refused({ argv: ['no-such-program'] })).toBe('command_not_found')
  expect(await refused({ argv: ['ls -la'] })).toBe('command_not_found')
  expect(await refused({ argv: ['ls', 'a\0b'] })).toBe('invalid_input')
  expect(await refused({ argv: ['ls'], cwd: '/' })).toBe('path_outside_roots')
  expect(await refused({ argv: ['ls'], cwd: '..' })).toBe('path_outside_roots')
  expect(await refused({ argv: ['ls'], cwd: 'none' })).toBe('file_not_found')
  expect(await refused({ argv: ['ls'], cwd: 'a.txt' })).toBe('not_a_directory')
  expect(planned).toBe(false)
})

test('refuses a program that means another file than was shown (FILE-7)', async () => {
  put('bin/one', '#!/bin/sh\necho one\n')
  put('bin/two', '#!/bin/sh\necho two\n')
  execFileSync('chmod', ['+x', join(project, 'bin/one'), join(project, 'bin/two')])
  symlinkSync('one', join(project, 'bin/run'))
  expect((await call('run_command', { argv: ['bin/run'] })).text).toContain('one')
  const between = () => {
    rmSync(join(project, 'bin/run'))
    symlinkSync('two', join(project, 'bin/run'))
  }
  expect((await failure('run_command', { argv: ['bin/run'] }, { between })).reason).toBe('stale_preview')
})
