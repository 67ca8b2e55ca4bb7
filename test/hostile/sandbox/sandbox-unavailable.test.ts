import { chmodSync, chownSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { codeTools, jobTools, resultText, type RuntimeOptions } from 'handrail'
import { expect, onTestFinished, test } from 'vitest'
import { makeFolder, openRuntime } from '../../support/project.ts'

const isRoot = process.getuid?.() === 0

/** What a runtime of these options says of a command that would leave a mark in its project. */
async function attempt(options: RuntimeOptions = {}, project = makeFolder()) {
  const runtime = await openRuntime({
    project,
    tools: [codeTools()],
    approve: async () => ({ decision: 'allow_once' }),
    ...options,
  })
  const session = runtime.session()
  const result = await session.call('code.run_command', { argv: ['sh', '-c', 'echo x > mark; id -u'] })
  return { runtime, session, result, ran: existsSync(join(project, 'mark')) }
}

/** A folder of programs, as the only one of the search path. */
function withPath(folder: string): void {
  const before = process.env['PATH']
  process.env['PATH'] = folder
  onTestFinished(() => {
    process.env['PATH'] = before
  })
}

/** What Handrail looks for in a bubblewrap before it uses it. */
const knows = '# --bind-fd'

/** A folder with `sh` and, as bwrap, a program that says this and fails. */
function programsWith(said: string | undefined): string {
  const folder = makeFolder()
  symlinkSync('/bin/sh', join(folder, 'sh'))
  if (said !== undefined)
    writeFileSync(join(folder, 'bwrap'), `#!/bin/sh\n${knows}\necho "${said}" >&2\nexit 1\n`, { mode: 0o755 })
  chmodSync(folder, 0o755)
  return folder
}

test('without bubblewrap no command runs, and the answer says what to install (SB-24)', async () => {
  withPath(programsWith(undefined))
  const { runtime, result, ran } = await attempt()
  expect(result.error).toMatchObject({ code: 'SANDBOX.UNAVAILABLE', reason: 'missing_program' })
  expect(result.error?.message).toContain('apt-get install bubblewrap')
  expect(ran).toBe(false)
  expect(runtime.sandbox).toContain('apt-get install bubblewrap')
})

test('a bubblewrap that cannot hold what it lays is not used, and the answer says which one to install (SB-24)', async () => {
  const folder = programsWith(undefined)
  writeFileSync(join(folder, 'bwrap'), '#!/bin/sh\nexec /usr/bin/bwrap "$@"\n', { mode: 0o755 })
  withPath(folder)
  const { result, ran } = await attempt()
  expect(result.error).toMatchObject({ code: 'SANDBOX.UNAVAILABLE', reason: 'missing_program' })
  expect(result.error?.message).toContain('Install bubblewrap 0.10 or later')
  expect(ran).toBe(false)
})

test.each([
  [
    'bwrap: No permissions to create new namespace, likely because the kernel does not allow non-privileged user namespaces.',
    'max_user_namespaces',
  ],
  ['bwrap: setting up uid map: Permission denied', 'user namespace'],
  ['bwrap: Creating new namespace failed: Operation not permitted', 'user namespace'],
  ['bwrap: Unknown option --perms', 'Unknown option --perms'],
])(
  'where bubblewrap says "%s" no command runs, and the answer says what to do (SB-24)',
  async (said, says) => {
    withPath(programsWith(said))
    const { result, ran } = await attempt()
    expect(result.error).toMatchObject({ code: 'SANDBOX.UNAVAILABLE', reason: 'no_backend' })
    expect(result.error?.message).toContain(says)
    expect(ran).toBe(false)
  },
)

test.each([
  ['bubblewrap makes no sandbox', 'echo "bwrap: Operation not permitted" >&2; exit 1'],
  ['bubblewrap says that it makes one, and then cannot', 'echo \'{ "child-pid": 999999999 }\' >&4; exit 1'],
  ['bubblewrap is killed while it makes one', 'kill -9 $$'],
])('where %s no job is started (FILE-7, SB-24)', async (_what, script) => {
  const folder = programsWith('')
  writeFileSync(join(folder, 'bwrap'), `#!/bin/sh\n${knows}\n${script}\n`, { mode: 0o755 })
  withPath(folder)
  const { session, ran } = await attempt({ tools: [codeTools(), jobTools()] })
  const argv = ['sh', '-c', 'echo x > mark']
  const result = await session.call('code.run_command', { argv, background: true })
  expect(result.error).toMatchObject({ code: 'SANDBOX.UNAVAILABLE', reason: 'no_backend' })
  expect((await session.call('job.list', {})).data).toEqual({ jobs: [] })
  expect(ran).toBe(false)
})

test('a second attempt after a refusal finds no way around it (SB-25)', async () => {
  withPath(programsWith('bwrap: Operation not permitted'))
  const { session, ran } = await attempt()
  const again = await session.call('code.run_command', { argv: ['sh', '-c', 'echo x > mark'] })
  expect([again.error?.code, ran]).toEqual(['SANDBOX.UNAVAILABLE', false])
})

test('files and searches work without bubblewrap', async () => {
  withPath(programsWith(undefined))
  const { session } = await attempt({}, makeFolder({ 'a.txt': 'here' }))
  expect((await session.call('code.read_file', { path: 'a.txt' })).ok).toBe(true)
  expect((await session.call('code.search', { query: 'here' })).ok).toBe(true)
})

test.runIf(isRoot)(
  'a project that the user of commands may not enter is named, with what to do',
  async () => {
    const project = makeFolder()
    chownSync(project, 0, 0)
    const { result, ran } = await attempt({}, project)
    expect(result.error).toMatchObject({ code: 'SANDBOX.UNAVAILABLE', reason: 'no_backend' })
    expect(result.error?.message).toContain(`"${project}"`)
    expect(result.error?.message).toContain('chown -R nobody')
    expect(ran).toBe(false)
  },
)

test.runIf(isRoot)(
  'root runs commands as the owner of the project, else as whom the configuration names, never as root',
  async () => {
    const owned = makeFolder()
    chownSync(owned, 4_242, 4_242)
    expect(resultText((await attempt({}, owned)).result)).toContain('4242')
    const named = makeFolder()
    chmodSync(named, 0o777)
    expect(resultText((await attempt({ sandbox: { user: '4243:4243' } }, named)).result)).toContain('4243')
    for (const user of ['root', '0', '0:0', '4242:0']) {
      const { result, ran } = await attempt({ sandbox: { user } })
      expect([user, result.error?.code, ran]).toEqual([user, 'SANDBOX.UNAVAILABLE', false])
    }
  },
)

test('a user that is not there is named', async () => {
  const { result } = await attempt({ sandbox: { user: 'nobody-of-that-name' } })
  expect(result.error?.message).toContain('nobody-of-that-name')
})

test('the host is used only where it is chosen, and then every result of a command says so', async () => {
  const project = makeFolder()
  if (isRoot) chownSync(project, 0, 0)
  const { runtime, session, result, ran } = await attempt({ sandbox: 'host' }, project)
  expect(result.ok).toBe(true)
  expect(ran).toBe(true)
  expect(result.metadata.sandbox).toBe('host')
  expect(runtime.sandbox).toMatch(/^host: .*without isolation/)
  const asked = await session.preflight('code.run_command', { argv: ['true'] })
  expect(asked.sandbox).toMatch(/^host: /)
  const read = await session.call('code.list_dir', {})
  expect(read.metadata.sandbox).toBeUndefined()
  const failed = await session.call('code.run_command', { argv: ['sh', '-c', 'exit 3'] })
  expect(failed.metadata.sandbox).toBe('host')
})

test('a preflight of a command says what isolates it; one in the sandbox is not marked', async () => {
  const { session, result } = await attempt()
  expect(result.metadata.sandbox).toBeUndefined()
  const asked = await session.preflight('code.run_command', { argv: ['true'] })
  expect(asked.sandbox).toMatch(/^bubblewrap: commands run as .* without network/)
})

test.each([
  { sandbox: 'none' },
  { sandbox: { kind: 'docker' } },
  { sandbox: { network: true } },
  { sandbox: { processes: 0 } },
])('options that name no sandbox are refused: %j', async (options) => {
  await expect(openRuntime(options as unknown as RuntimeOptions)).rejects.toMatchObject({
    code: 'invalid_options',
  })
})

test('a folder that is not there any more is a failure of the command, not of the sandbox', async () => {
  const project = makeFolder({ 'sub/a': '' })
  mkdirSync(join(project, 'empty'))
  const { session } = await attempt({}, project)
  const result = await session.call('code.run_command', { argv: ['true'], cwd: 'nowhere' })
  expect(result.error?.reason).toBe('file_not_found')
})
