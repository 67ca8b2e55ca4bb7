import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { codeTools } from 'handrail'
import { expect, onTestFinished, test, vi } from 'vitest'
import { handrail, jsonOf, makePlace } from '../../support/command-line.ts'
import { keepOpen } from '../../support/at-end.ts'
import { findProcesses } from '../../support/processes.ts'
import { makeFolder, openRuntime } from '../../support/project.ts'
import { openAsOrdinaryUser } from '../../support/sandbox-entrances.ts'

// On Linux, where sandbox-runtime drives bubblewrap; what it writes for macOS is tested beside the code.

const isRoot = process.getuid?.() === 0

/** One Handrail for all commands, whose environment has what none of them may see. */
const at = keepOpen(() =>
  openAsOrdinaryUser({
    configuration: { sandbox: 'sandbox-runtime' },
    files: {
      'a.txt': 'inside',
      'show.mjs': 'console.log(JSON.stringify(process.argv.slice(2)))',
      '.env': 'KEY=secret',
      'sub/.env': 'KEY=secret',
      '.git/hooks/pre-commit': 'old',
      '.npmrc': 'old',
    },
    env: { JAVA_TOOL_OPTIONS: 'unwanted', TOKEN: 'unwanted', CLAUDE_TMPDIR: '/unwanted' },
  }),
)

test('a command reads its roots and the programs of the system, and no other file (FILE-7)', async () => {
  const outside = makeFolder({ 'a.txt': 'outside' })
  const { run, project } = at()
  expect((await run('cat', 'a.txt')).text).toContain('inside')
  for (const path of [join(outside, 'a.txt'), '/etc/passwd', '/etc/hostname']) {
    const { ok, text } = await run('cat', path)
    expect([path, ok, text.includes('outside')]).toEqual([path, false, false])
  }
  expect((await run('sh', '-c', 'id -u; ls /root /home /work 2>&1')).text).not.toContain(project)
})

test('a command writes its write roots and its own folder, which is gone afterwards (FILE-7)', async () => {
  const { run, project } = at()
  const script =
    'echo x > made; echo x > "$TMPDIR/own" && echo "$TMPDIR"; echo x > /usr/made; echo x > /tmp/made'
  const { text } = await run('sh', '-c', script)
  const [own = ''] = /\/\S*handrail-\w+/.exec(text) ?? []
  expect([existsSync(join(project, 'made')), own === '', existsSync(own)]).toEqual([true, false, false])
  expect(['/usr/made', '/tmp/made'].filter((path) => existsSync(path))).toEqual([])
})

test("a command sees the allowed variables and none of Handrail's own (FILE-7)", async () => {
  const { run } = at()
  const { text } = await run('env')
  expect(text).toContain('PATH=')
  expect(text).not.toMatch(/unwanted|SANDBOX_RUNTIME|_PROXY/)
})

const awkward = [
  "it's",
  '$(touch hacked)',
  '`touch hacked`',
  '"',
  '\\',
  'a\nb',
  '; touch hacked',
  '&& touch hacked #',
  '*',
  '--',
  '-c',
  '!x',
  "'\"'\"'",
  '',
  ' ',
  '~',
  '=ls',
  'ü€😀',
]

test('arguments reach a program as they are, and no shell reads them (FILE-7)', async () => {
  const { run, project } = at()
  const { text } = await run('node', 'show.mjs', ...awkward)
  expect(text).toContain(JSON.stringify(awkward))
  expect(existsSync(join(project, 'hacked'))).toBe(false)
})

test('what was left in a folder of the search path is not run outside of the sandbox', async () => {
  const traces = makeFolder()
  const programs = makeFolder()
  for (const folder of [traces, programs]) chmodSync(folder, 0o777)
  const trap = `#!/bin/sh\ntouch ${join(traces, 'hacked')}\n`
  for (const name of ['which', 'env', 'sh', 'bash', 'rg', 'sandbox-exec', 'apply-seccomp', 'true'])
    writeFileSync(join(programs, name), trap, { mode: 0o755 })
  const { run } = await openAsOrdinaryUser({
    configuration: { sandbox: 'sandbox-runtime' },
    env: { PATH: `${programs}:${process.env['PATH']}` },
  })
  expect((await run('id', '-u')).ok).toBe(true)
  expect(existsSync(join(traces, 'hacked'))).toBe(false)
})

test('a command neither reads nor replaces what is sensitive (FILE-8)', async () => {
  const { run, project } = at()
  const { text } = await run(
    'sh',
    '-c',
    'cat .env sub/.env; echo x > .env; mv .env seen; cat seen; rm sub/.env',
  )
  expect(text).not.toContain('KEY=secret')
  expect([
    readFileSync(join(project, '.env'), 'utf8'),
    readFileSync(join(project, 'sub/.env'), 'utf8'),
  ]).toEqual(['KEY=secret', 'KEY=secret'])
})

test('a command writes nothing that other programs run or obey, also where nothing is yet (FS-41)', async () => {
  const { run, project } = at()
  await run(
    'sh',
    '-c',
    'echo x > .git/hooks/pre-commit; echo x > .git/hooks/new; echo x > .npmrc; echo x > .envrc',
  )
  expect(readFileSync(join(project, '.git/hooks/pre-commit'), 'utf8')).toBe('old')
  expect(readFileSync(join(project, '.npmrc'), 'utf8')).toBe('old')
  expect(['.git/hooks/new', '.envrc'].filter((path) => existsSync(join(project, path)))).toEqual([])
})

test('a command reaches no server of the machine (FILE-7)', async () => {
  let reached = 0
  const server = createServer((socket) => {
    reached++
    socket.destroy()
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const script =
    'require("net").connect(+process.argv[1], "127.0.0.1").on("error", (error) => console.log(error.code))'
  const { run } = at()
  expect((await run('node', '-e', script, String(port))).text).toContain('ECONNREFUSED')
  expect(reached).toBe(0)
})

test('at its time limit a command is gone with all that it started (FILE-7)', async () => {
  const { call, project } = at()
  const script = 'trap "" TERM; setsid sleep 300 & (sleep 300 &) ; touch started; sleep 300'
  const { text } = await call('code.run_command', { argv: ['sh', '-c', script], timeout_ms: 2_000 })
  expect([existsSync(join(project, 'started')), text.includes('time')]).toEqual([true, true])
  await vi.waitFor(() => expect(findProcesses(`PWD=${project}`)).toEqual([]))
})

test('what a command leaves in the background ends with it', async () => {
  const { run, project } = at()
  expect(
    (await run('sh', '-c', 'setsid sleep 300 & (sleep 300 >/dev/null 2>&1 &); echo over')).text,
  ).toContain('over')
  expect(findProcesses(`PWD=${project}`)).toEqual([])
})

test('a program that a signal ended has no exit code', async () => {
  const { run } = at()
  const { ok, text } = await run('sh', '-c', 'kill -SEGV $$')
  expect([ok, text.includes('SIGSEGV')]).toEqual([false, true])
})

/** What a runtime of this kind says of a command that would leave a mark in its project. */
async function attempt() {
  const project = makeFolder()
  const runtime = await openRuntime({
    project,
    sandbox: 'sandbox-runtime',
    tools: [codeTools()],
    approve: async () => ({ decision: 'allow_once' }),
  })
  const result = await runtime.session().call('code.run_command', { argv: ['sh', '-c', 'echo x > mark'] })
  return { runtime, result, ran: existsSync(join(project, 'mark')) }
}

test('where sandbox-runtime is not installed no command runs, and the answer says what to install (SB-24)', async () => {
  const hooks = registerHooks({
    resolve(specifier, context, next) {
      if (specifier.startsWith('@anthropic-ai/')) throw new Error('not installed')
      return next(specifier, context)
    },
  })
  onTestFinished(() => hooks.deregister())
  const { runtime, result, ran } = await attempt()
  expect(result.error).toMatchObject({ code: 'SANDBOX.UNAVAILABLE', reason: 'missing_program' })
  expect(result.error?.message).toContain('npm install @anthropic-ai/sandbox-runtime')
  expect(runtime.sandbox).toContain('npm install @anthropic-ai/sandbox-runtime')
  expect(ran).toBe(false)
})

test.runIf(isRoot)('root runs no command through it, and the answer says what to do (SB-25)', async () => {
  const { result, ran } = await attempt()
  expect(result.error).toMatchObject({ code: 'SANDBOX.UNAVAILABLE', reason: 'no_backend' })
  expect(result.error?.message).toMatch(/as whom no command runs. Start Handrail as an ordinary user/)
  expect(ran).toBe(false)
})

/** What `handrail doctor --json` prints. */
interface Examined {
  holds: boolean
  findings: { id: string; holds: boolean; needed?: boolean }[]
}

test('doctor tries what sandbox-runtime promises', async () => {
  const place = makePlace({ 'a.txt': '' }, { 'config.json': { sandbox: 'sandbox-runtime' } })
  mkdirSync(place.home, { recursive: true })
  const { holds, findings } = jsonOf<Examined>(await handrail(place, ['doctor', '--json']))
  const whileItRuns = ['user', 'project', 'outside', 'writing', 'network', 'disk', 'ending']
  const first = ['node', 'ripgrep', 'files', 'sandbox_runtime']
  const about = new Set([...first, ...whileItRuns])
  expect(findings.filter(({ id }) => about.has(id))).toMatchObject(
    [...first, ...(isRoot ? [] : whileItRuns)].map((id) => ({
      id,
      needed: true,
      holds: id !== 'sandbox_runtime' || !isRoot,
    })),
  )
  expect(holds).toBe(!isRoot)
})

test('doctor says that commands reach no hosts through sandbox-runtime, where tools name some', async () => {
  const place = makePlace(
    {},
    { 'config.json': { sandbox: 'sandbox-runtime', commands: { hosts: ['example.com'] } } },
  )
  const { holds, findings } = jsonOf<Examined>(await handrail(place, ['doctor', '--json']))
  expect(holds).toBe(false)
  expect(findings.at(-1)).toMatchObject({ id: 'proxy', holds: false, needed: true })
})

test('where the sandbox cannot be made no command runs, and the answer says why (SB-24)', async () => {
  const programs = makeFolder()
  chmodSync(programs, 0o755)
  const bwrap = '#!/bin/sh\necho "bwrap: No permissions to create a new namespace" >&2\nexit 1\n'
  writeFileSync(join(programs, 'bwrap'), bwrap, { mode: 0o755 })
  const { run, project } = await openAsOrdinaryUser({
    configuration: { sandbox: 'sandbox-runtime' },
    env: { PATH: `${programs}:${process.env['PATH']}` },
  })
  const { code, text } = await run('sh', '-c', 'echo x > mark')
  expect([code, text.includes('No permissions to create')]).toEqual(['SANDBOX.UNAVAILABLE', true])
  expect(existsSync(join(project, 'mark'))).toBe(false)
})
