import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { resultText } from 'handrail'
import { afterEach, expect, test, vi } from 'vitest'
import { filesIn, openDeclared, tellAll, texts, toolFile } from '../support/declared-tools.ts'
import { makeFolder } from '../support/project.ts'
import { rounds } from '../support/rounds.ts'
import { memoryHeld } from '../support/memory-held.ts'

afterEach(() => void vi.unstubAllEnvs())

interface Told {
  env: Record<string, string>
  cwd: string
}

const tell = (more: Record<string, unknown> = {}) => ({
  'a.json': toolFile({ command: './tell.mjs', output: 'json', ...more }),
  'tell.mjs': tellAll,
})

test.each(['bubblewrap', 'host'] as const)(
  'in the sandbox "%s" a program sees the variables of all commands and those that its file names, and no other (DECL-4)',
  async (sandbox) => {
    vi.stubEnv('DECLARED', 'a value')
    vi.stubEnv('HIDDEN_TOKEN', 'not for tools')
    const { runtime } = await openDeclared(tell({ env_allowlist: ['DECLARED', 'NOT_SET', 'PATH'] }), {
      sandbox,
    })
    const { data } = await runtime.session().call('demo.tool')
    const { env } = data as unknown as Told
    expect(env['DECLARED']).toBe('a value')
    expect(env).not.toHaveProperty('NOT_SET')
    const known = ['PATH', 'HOME', 'TMPDIR', 'LANG', 'LC_ALL', 'PWD', 'HANDRAIL_CALL', 'DECLARED']
    expect(Object.keys(env).filter((name) => !known.includes(name))).toEqual([])
  },
)

test('the search path is the one of all commands, whatever a file names (DECL-4)', async () => {
  const project = makeFolder()
  vi.stubEnv('PATH', `${project}:${process.env['PATH'] ?? ''}`)
  const { runtime } = await openDeclared(tell({ env_allowlist: ['PATH'] }), { project })
  const { data } = await runtime.session().call('demo.tool')
  expect((data as unknown as Told).env['PATH']?.split(':')).not.toContain(project)
})

test('a readonly program finds nothing that it could write to (DECL-4, AUTH-2)', async () => {
  const project = makeFolder({ 'a.txt': 'text' })
  const script = 'cat a.txt; for file in new a.txt /tmp/../usr/x; do echo x > "$file"; done 2>/dev/null; true'
  const declared = { command_type: 'shell', command: script }
  const { runtime } = await openDeclared(
    { 'a.json': toolFile({ ...declared, permission: 'readonly', tags: ['dangerous'] }) },
    { project },
  )
  expect((await runtime.session().call('demo.tool')).data).toBe('text')
  expect(filesIn(project)).toEqual(['a.txt'])
  expect(readFileSync(join(project, 'a.txt'), 'utf8')).toBe('text')
})

test('what a program makes or finds of protected paths is told, whatever it prints (DECL-2, FS-41, FS-43)', async () => {
  const shell = (script: string) => ({ command: 'sh', args: ['-c', script] })
  const { runtime } = await openDeclared(
    {
      'make.json': toolFile({
        name: 'demo.make',
        ...shell('echo evil > .envrc; echo "not JSON"'),
        output: 'json',
      }),
      'change.json': toolFile({ name: 'demo.change', ...shell('echo x >> .npmrc') }),
      'try.json': toolFile({ name: 'demo.try', ...shell('echo x >> .npmrc; echo {}'), output: 'result' }),
    },
    { project: makeFolder({ '.npmrc': 'a=1\n' }) },
  )
  const session = runtime.session()
  const made = await session.call('demo.make')
  expect(made).toMatchObject({ outcome: 'failed', error: { reason: 'protected_path' } })
  expect([resultText(made), made.error?.message]).toEqual([
    expect.stringContaining('not JSON'),
    expect.stringContaining('made ".envrc"'),
  ])
  for (const [tool, ok] of [
    ['demo.change', false],
    ['demo.try', true],
  ] as const) {
    const result = await session.call(tool)
    expect(result.ok).toBe(ok)
    expect(resultText(result).split('".npmrc" is protected')).toHaveLength(2)
  }
})

test('a secret is handed over by name and is nowhere to be read (DECL-4, OUT-4)', async () => {
  const { runtime, events } = await openDeclared(tell({ secrets: ['SHOP_TOKEN'] }), {
    secrets: { SHOP_TOKEN: 'correct-horse-battery', OTHER: 'never-handed-over' },
  })
  const result = await runtime.session().call('demo.tool')
  const { env } = result.data as unknown as Told
  expect(env['SHOP_TOKEN']).toBe('[redacted]')
  expect(env).not.toHaveProperty('OTHER')
  const records = [...runtime.store.records({})].map(({ text }) => text).join()
  expect(JSON.stringify([result, events]) + records).not.toContain('correct-horse')
})

test('a secret that this runtime was not given fails the call before anything runs (DECL-4)', async () => {
  const { runtime } = await openDeclared({
    'a.json': toolFile({ command: 'touch', args: ['mark'], secrets: ['SHOP_TOKEN'] }),
  })
  const { error } = await runtime.session().call('demo.tool')
  expect(error).toMatchObject({ reason: 'service_missing' })
  expect(error?.message).toContain('SHOP_TOKEN')
  expect(existsSync(join(runtime.project, 'mark'))).toBe(false)
})

test('the program runs in the project, or in the folder that the file names inside of the roots (DECL-4)', async () => {
  const project = realpathSync(makeFolder({ 'sub/a.txt': '' }))
  const other = realpathSync(makeFolder())
  const run = async (working_dir: string | undefined) => {
    const more = working_dir === undefined ? {} : { working_dir }
    const { runtime } = await openDeclared(tell(more), { project, readRoots: [other] })
    const { data, error } = await runtime.session().call('demo.tool')
    return (data as unknown as Told | undefined)?.cwd ?? error?.reason
  }
  expect(await run(undefined)).toBe(project)
  expect(await run('sub')).toBe(join(project, 'sub'))
  expect(await run(other)).toBe(other)
  expect(await run('none')).toBe('file_not_found')
  expect(await run('sub/a.txt')).toBe('not_a_directory')
})

test('a folder outside of the roots, also by a link, is refused, and nothing runs (DECL-4, FILE-9)', async () => {
  const project = makeFolder()
  const outside = makeFolder()
  symlinkSync(outside, join(project, 'link'))
  for (const working_dir of ['..', outside, 'link', `${project}-evil`, '/']) {
    const { runtime } = await openDeclared(
      { 'a.json': toolFile({ command: 'touch', args: ['mark'], working_dir }) },
      { project },
    )
    const { error } = await runtime.session().call('demo.tool')
    expect([working_dir, error?.code]).toEqual([working_dir, 'SANDBOX.CAPABILITY_BLOCKED'])
  }
  expect(existsSync(join(outside, 'mark'))).toBe(false)
})

test('the model cannot choose folder, environment or time limit (DECL-4)', async () => {
  const { runtime } = await openDeclared(tell({ input_schema: texts() }))
  for (const input of [{ working_dir: '/' }, { cwd: '/' }, { env: { A: 'b' } }, { timeout_ms: 600_000 }])
    expect((await runtime.session().call('demo.tool', input)).error).toMatchObject({
      reason: 'invalid_input',
    })
})

test('at its time limit the program ends with all that it started, and its output up to then is kept (DECL-4)', async () => {
  const script = 'echo begun; (sleep 3; touch late) & sleep 60'
  const { runtime } = await openDeclared({
    'a.json': toolFile({ command_type: 'shell', command: script, timeout_ms: 1_000 }),
  })
  const result = await runtime.session().call('demo.tool')
  expect(result).toMatchObject({
    ok: false,
    error: { code: 'TOOL.TIMEOUT', reason: 'timed_out' },
    metadata: { aborted: true, partial: true },
  })
  expect(resultText(result)).toContain('begun')
  await wait(3_200)
  expect(existsSync(join(runtime.project, 'late'))).toBe(false)
})

test('no file can raise the highest time limit of the configuration (DECL-4, CALL-6)', async () => {
  const { runtime } = await openDeclared(
    { 'a.json': toolFile({ command: 'sleep', args: ['60'], timeout_ms: 600_000 }) },
    { limits: { maxTimeoutMs: 300 } },
  )
  expect((await runtime.session().call('demo.tool')).error).toMatchObject({ code: 'TOOL.TIMEOUT' })
})

test('an aborted call ends its program (DECL-4, SCHED-6)', async () => {
  const { runtime, events } = await openDeclared({
    'a.json': toolFile({ command_type: 'shell', command: 'echo begun >&2; sleep 60' }),
  })
  const session = runtime.session()
  const running = session.call('demo.tool', {}, { id: 'call-1' })
  await vi.waitFor(() => expect(events.some(({ type }) => type === 'tool_progress')).toBe(true))
  session.abort('call-1')
  expect((await running).error).toMatchObject({ code: 'TOOL.ABORTED', reason: 'aborted_by_user' })
})

test('of a large output start and end are shown, and an artifact has the whole (DECL-4, OUT-2)', async () => {
  const { runtime } = await openDeclared({
    'a.json': toolFile({ command: 'seq', args: ['1', '5000'], stdout_limit_bytes: 200 }),
  })
  const result = await runtime.session().call('demo.tool')
  const [artifact] = result.artifacts
  expect(result.ok).toBe(true)
  expect(resultText(result)).toMatch(/^1\n2\n[^]*bytes left out here[^]*4999\n5000\n/)
  expect(resultText(result).length).toBeLessThan(1_000)
  const whole = await runtime.artifacts.get(artifact?.digest ?? '')
  expect(
    Buffer.from(whole ?? [])
      .toString()
      .split('\n'),
  ).toHaveLength(5_001)
})

test('JSON over the limit is not guessed at (DECL-4)', async () => {
  const print = `console.log(JSON.stringify({ data: 'x'.repeat(1000) }))`
  const { runtime } = await openDeclared({
    'a.json': toolFile({ command: 'node', args: ['-e', print], output: 'result', stdout_limit_bytes: 500 }),
    'b.json': toolFile({ name: 'demo.fits', command: 'node', args: ['-e', print], output: 'result' }),
  })
  const session = runtime.session()
  expect((await session.call('demo.tool')).error).toMatchObject({ reason: 'output_too_large' })
  expect((await session.call('demo.fits')).data).toHaveLength(1_000)
})

test('of a large log the end is told, within its own limit (DECL-4)', async () => {
  const { runtime, events } = await openDeclared({
    'a.json': toolFile({
      command_type: 'shell',
      command: 'seq 1 50000 >&2; exit 1',
      stderr_limit_bytes: 100,
    }),
  })
  const result = await runtime.session().call('demo.tool')
  expect(result.error?.message).toMatch(/49999\n50000$/)
  expect(result.error?.message).not.toContain('49900')
  const shown = events.filter(({ type }) => type === 'tool_progress').map(({ summary }) => summary)
  expect(shown.join('')).toMatch(/^1\n2\n[^]*… more output follows; the result has it …\n$/)
  expect(shown.join('').length).toBeLessThan(66_000)
  expect(result.artifacts).toMatchObject([{ name: 'stderr.txt' }])
})

const output = rounds({ usual: 50_000_000, long: 200_000_000 })

test(`${output / 1e6} MB of output cost no memory worth a word (DECL-4)`, async () => {
  const { runtime } = await openDeclared(
    {
      'a.json': toolFile({ command: 'head', args: ['-c', String(output), '/dev/zero'] }),
    },
    { artifacts: { dir: join(makeFolder(), 'artifacts') } },
  )
  const before = memoryHeld()
  const result = await runtime.session().call('demo.tool')
  expect(result.artifacts).toMatchObject([{ bytes: output }])
  expect(memoryHeld() - before).toBeLessThan(75_000_000)
})

test('a program that a call could have put there never runs unasked (DECL-4)', async () => {
  const [project, other] = [makeFolder(), makeFolder({ mine: '#!/bin/sh\n' })]
  mkdirSync(join(project, 'bin'))
  writeFileSync(join(project, 'bin', 'mine-only'), '#!/bin/sh\necho mine\n', { mode: 0o755 })
  vi.stubEnv('PATH', `${join(project, 'bin')}:${process.env['PATH'] ?? ''}`)
  const { runtime } = await openDeclared(
    {
      'a.json': toolFile({ command: 'mine-only', permission: 'readonly' }),
      'b.json': toolFile({
        name: 'demo.path',
        command: join(project, 'bin', 'mine-only'),
        permission: 'readonly',
      }),
      'c.json': toolFile({ name: 'demo.write', command: join(project, 'bin', 'mine-only') }),
      'd.json': toolFile({ name: 'demo.other', command: join(other, 'mine'), permission: 'readonly' }),
    },
    { project, writeRoots: [other] },
  )
  const session = runtime.session()
  expect((await session.call('demo.tool')).error).toMatchObject({ reason: 'command_not_found' })
  chmodSync(join(other, 'mine'), 0o755)
  for (const tool of ['demo.path', 'demo.other'])
    expect((await session.call(tool)).error).toMatchObject({ reason: 'executable_blocked' })
  expect((await session.call('demo.write')).data).toBe('mine\n')
})
