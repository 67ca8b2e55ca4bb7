import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { codeTools } from 'handrail'
import { expect, test } from 'vitest'
import { makeFolder, openRuntime, personSaying } from '../support/project.ts'
import { withEnoughTime } from '../support/with-enough-time.ts'

async function sessionOver(files: Record<string, string>) {
  const project = makeFolder(files)
  const runtime = await openRuntime({
    project,
    tools: [codeTools()],
    approve: personSaying('allow_once').approve,
  })
  return { project, session: runtime.session() }
}

test('a directory is listed by name, recursive on demand, up to a limit (FILE-2)', async () => {
  const { session } = await sessionOver({ 'b.txt': '', 'a/c.txt': '', 'a/d.txt': '' })
  const flat = await session.call('code.list_dir', {})
  expect(flat.data).toMatchObject({ entries: [{ path: 'a' }, { path: 'b.txt' }], truncated: false })
  const deep = await session.call('code.list_dir', { recursive: true, limit: 2 })
  expect(deep.data).toMatchObject({ truncated: true })
})

test('a search finds text by regular expression and glob, never as a flag (FILE-3)', async () => {
  const { session } = await sessionOver({ 'a.ts': 'const needle = 1\n', 'b.md': 'needle\n' })
  const found = await session.call('code.search', { query: 'need.e', glob: '*.ts' })
  expect(JSON.stringify(found.data)).toContain('a.ts')
  expect(JSON.stringify(found.data)).not.toContain('b.md')
  expect((await session.call('code.search', { query: '--pre=sh' })).ok).toBe(true)
  expect((await session.call('code.search', { query: '(' })).error).toMatchObject({
    reason: 'invalid_pattern',
  })
})

test('a glob finds files anywhere below the project (FILE-4)', async () => {
  const { session } = await sessionOver({ 'a.ts': '', 'deep/er/b.ts': '', 'c.md': '' })
  const found = JSON.stringify((await session.call('code.glob', { pattern: '**/*.ts' })).data)
  expect(found).toContain('a.ts')
  expect(found).toContain('deep/er/b.ts')
  expect(found).not.toContain('c.md')
})

test('a file is written with its folders, and never over another unasked (FILE-5)', async () => {
  const { project, session } = await sessionOver({ 'old.txt': 'old' })
  expect((await session.call('code.write_file', { path: 'new/deep/a.txt', content: 'a' })).ok).toBe(true)
  expect(readFileSync(join(project, 'new/deep/a.txt'), 'utf8')).toBe('a')
  const conflict = await session.call('code.write_file', { path: 'old.txt', content: 'new' })
  expect(conflict.error).toMatchObject({ code: 'TOOL.FAILED', reason: 'path_conflict' })
  expect(readFileSync(join(project, 'old.txt'), 'utf8')).toBe('old')
  expect(
    (await session.call('code.write_file', { path: 'old.txt', content: 'new', overwrite: true })).ok,
  ).toBe(true)
  expect(readFileSync(join(project, 'old.txt'), 'utf8')).toBe('new')
  expect((await session.call('code.write_file', { path: '../out.txt', content: '' })).error?.code).toBe(
    'SANDBOX.CAPABILITY_BLOCKED',
  )
})

test('a command runs by argv inside the roots, without the environment, up to its time (FILE-7)', async () => {
  process.env['HANDRAIL_TEST_SECRET'] = 'not for commands'
  const { project, session } = await sessionOver({ 'sub/x': '' })
  const run = (argv: string[], more: object = {}) => session.call('code.run_command', { argv, ...more })
  const shown = await run(
    [
      process.execPath,
      '-p',
      'process.cwd() + " " + String(process.env.HANDRAIL_TEST_SECRET) + " " + process.argv[1]',
      '$(touch pwned)',
    ],
    { cwd: 'sub' },
  )
  expect(shown.data).toMatchObject({ exit_code: 0 })
  expect(JSON.stringify(shown.data)).toContain(`${join(project, 'sub')} undefined $(touch pwned)`)
  expect(existsSync(join(project, 'pwned'))).toBe(false)
  expect((await run(['sh', '-c', 'echo no >&2; exit 3'])).error).toMatchObject({
    code: 'TOOL.FAILED',
    reason: 'exit_code',
  })
  expect((await run(['no-such-program'])).error).toMatchObject({ reason: 'command_not_found' })
  expect((await run(['true'], { cwd: '..' })).error?.code).toBe('SANDBOX.CAPABILITY_BLOCKED')
  expect((await run(['true'], { env: { A: '1' } })).error?.code).toBe('SCHEMA.VALIDATION_FAILED')
  const sleeping = [process.execPath, '-e', 'console.log("started"); setTimeout(() => {}, 600_000)']
  await withEnoughTime(500, async (ms) => {
    const slow = await run(sleeping, { timeout_ms: ms })
    expect(slow.error).toMatchObject({ code: 'TOOL.TIMEOUT', reason: 'timed_out' })
    expect(JSON.stringify(slow.content)).toContain('started')
  })
})
