import { execFileSync } from 'node:child_process'
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import {
  codeTools,
  resultText,
  type ApprovalRequest,
  type Policy,
  type Runtime,
  type RuntimeOptions,
} from 'handrail'
import { expect, test } from 'vitest'
import { atEnd } from '../../support/at-end.ts'
import { giveAway, makeFolder, openRuntime } from '../../support/project.ts'
import { imageOf } from '../../support/undo.ts'

const files = { 'a.txt': 'one\n', 'deep/x.txt': 'x', 'deep/er/y.txt': 'y', '.env': 'KEY=hidden-value' }

interface Place {
  readonly decision?: 'allow_once' | 'deny'
  readonly policy?: Policy
  readonly sandbox?: RuntimeOptions['sandbox']
  /** Where the project lies. */
  readonly parent?: string
  /** What another program does while the person decides. */
  readonly meanwhile?: (project: string, runtime: Runtime) => void | Promise<unknown>
}

/** A runtime as it is without a word about held changes in its configuration. */
async function open({ decision = 'allow_once', policy, sandbox, parent, meanwhile }: Place = {}) {
  const project = makeFolder(files, parent)
  const asked: ApprovalRequest[] = []
  const seen: ReturnType<typeof imageOf>[] = []
  const runtime = await openRuntime({
    project,
    store: 'memory',
    tools: [codeTools({ shell: true })],
    ...(sandbox !== undefined && { sandbox }),
    ...(policy !== undefined && { policy }),
    approve: async (request) => {
      asked.push(request)
      seen.push(imageOf(project))
      await meanwhile?.(project, runtime)
      return { decision }
    },
  })
  const session = runtime.session()
  const shell = (command: string) => session.call('code.run_shell', { command })
  return { project, asked, seen, session, shell }
}

const allow = (...commands: string[]): Policy => ({
  rules: [{ effect: 'allow', tools: ['code.run_shell'], commands }],
})

test('a command that a person is asked about has run when they see it, and only their yes lands what it did (FS-43)', async () => {
  const { project, asked, seen, shell } = await open()
  const before = imageOf(project)
  expect(await shell('echo two >> a.txt')).toMatchObject({ ok: true })
  expect(seen).toEqual([before])
  expect(asked[0]?.preview.body).toContain('+two')
  expect(readFileSync(join(project, 'a.txt'), 'utf8')).toBe('one\ntwo\n')
  const no = await open({ decision: 'deny' })
  expect(await no.shell('echo two >> a.txt')).toMatchObject({ ok: false, error: { reason: 'denied' } })
  expect(imageOf(no.project)).toEqual(before)
  const held = await open({
    meanwhile: (_, { stops }) => stops.pause({ by: 'bob', why: 'It breaks things.' }),
  })
  expect(await held.shell('echo two >> a.txt')).toMatchObject({
    ok: false,
    error: { reason: 'calls_paused', message: expect.stringContaining('kept: It breaks things. Stop here') },
  })
  expect(imageOf(held.project)).toEqual(before)
})

test('what a rule lets through to change files is in force at once, and a rule on paths holds it back (PERM-10)', async () => {
  const free = await open({ policy: allow('sh *') })
  expect((await free.shell("sh -c 'echo two >> a.txt'")).data).not.toHaveProperty('changes')
  expect(readFileSync(join(free.project, 'a.txt'), 'utf8')).toBe('one\ntwo\n')
  for (const rule of [
    { effect: 'deny', resources: ['handrail:file:{project}/gen/**'] },
    { effect: 'ask', resources: ['handrail:file:{project}/**/gen/*'] },
    { effect: 'deny', commands: ['sh *'], resources: ['handrail:file:{project}/gen/**'] },
  ] as const) {
    const policy = { rules: [...(allow('sh *').rules ?? []), rule] }
    const { project, shell } = await open({ policy, decision: 'deny' })
    expect((await shell("sh -c 'echo two >> a.txt'")).data).toMatchObject({ changes: expect.anything() })
    const before = imageOf(project)
    expect(await shell("sh -c 'mkdir gen; echo x > gen/x; echo x > other'")).toMatchObject({ ok: false })
    expect(imageOf(project)).toEqual(before)
  }
})

test.each(['git diff', 'cd deep && git diff', 'set -e; export A=1; id; git diff | tac'])(
  'what a program wrote that a rule lets look does not land, whatever the shell did before it: %s (PERM-10)',
  async (line) => {
    const policy = allow('git diff', 'cd *', 'set -e', 'export *', 'id', 'tac')
    const { project, asked, shell } = await open({ policy, decision: 'deny' })
    execFileSync('git', ['init', '-q', project])
    // A program of the person, which their own settings name.
    appendFileSync(join(project, '.git/config'), `[diff]\nexternal = "sh -c 'echo x > mark; echo ran'"\n`)
    giveAway(project)
    execFileSync('git', ['-c', `safe.directory=${project}`, '-C', project, 'add', 'deep'])
    writeFileSync(join(project, 'deep/x.txt'), 'changed')
    giveAway(project)
    expect(await shell(line)).toMatchObject({ ok: false, error: { reason: 'denied' } })
    expect(asked[0]?.preview.body).toContain('+ mark')
    expect(existsSync(join(project, 'mark'))).toBe(false)
  },
)

test('what is denied is named, and the output of a call that a rule lets through is there (PERM-10)', async () => {
  const deny = {
    effect: 'deny',
    resources: ['handrail:file:{project}/gen/**'],
    reason: 'it is generated',
  } as const
  const { shell } = await open({ policy: { rules: [...(allow('sh *').rules ?? []), deny] } })
  const result = await shell("sh -c 'echo said; mkdir gen; echo x > gen/x'")
  expect(result.error).toMatchObject({
    code: 'POLICY.DENY_TOOL',
    message: expect.stringContaining('"gen": it is generated'),
    data: { path: expect.stringContaining('gen') },
  })
  expect(resultText(result)).toContain('said')
})

test('the question names what links lead to, modes and what only has another time (PERM-6)', async () => {
  const { asked, shell } = await open({ decision: 'deny' })
  await shell(
    'ln -s /etc/passwd out; chmod 755 a.txt; touch deep/x.txt; chmod 700 deep; rm deep/er/y.txt; ln -s ../../.. deep/er/y.txt; exit 3',
  )
  const { title = '', body = '' } = asked[0]?.preview ?? {}
  for (const line of [
    '+ out (link to /etc/passwd)',
    '~ a.txt (4 bytes, mode 644 to 755, content as before)',
    '~ deep/x.txt (1 byte, only its times)',
    '~ deep (directory, mode 755 to 700)',
    '~ deep/er/y.txt (link to ../../..)',
  ])
    expect(body.split('\n')).toContain(line)
  expect(title).toContain('it failed (exit code 3), and 5 changes wait')
  expect(asked[0]).toMatchObject({ ran: true })
})

test('holes stay holes (FS-43)', async () => {
  const { project, shell } = await open()
  expect(await shell('truncate -s 64M big; printf end >> big')).toMatchObject({ ok: true })
  const { size, blocks } = statSync(join(project, 'big'))
  expect([size, blocks * 512 < 1024 * 1024]).toEqual([64 * 1024 * 1024 + 3, true])
})

test('a rule on the words of a command covers what its program writes (PERM-10)', async () => {
  const policy: Policy = {
    rules: [{ effect: 'allow', tools: ['code.run_command'], argv: ['sh', '-c', '*'] }],
  }
  const { project, asked, session } = await open({ policy, sandbox: { hold: 'auto' }, decision: 'deny' })
  const argv = ['sh', '-c', 'echo two >> a.txt']
  expect((await session.call('code.run_command', { argv })).data).toMatchObject({
    changes: expect.anything(),
  })
  expect(asked).toEqual([])
  expect(readFileSync(join(project, 'a.txt'), 'utf8')).toBe('one\ntwo\n')
})

test.runIf(process.getuid?.() === 0)(
  'a root in which nothing can be held back now says what is in the way, and is tried again once that is gone (FS-43)',
  async () => {
    const { project, asked, shell } = await open({ sandbox: { hold: 'always' } })
    const inner = join(project, 'deep')
    execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', inner])
    const refused = await shell('echo two >> a.txt').finally(() => execFileSync('umount', [inner]))
    expect(refused).toMatchObject({
      ok: false,
      error: { code: 'SANDBOX.UNAVAILABLE', message: expect.stringContaining(`is mounted at "${inner}"`) },
    })
    expect(readFileSync(join(project, 'a.txt'), 'utf8')).toBe('one\n')
    expect(await shell('echo two >> a.txt')).toMatchObject({ ok: true, data: { changes: expect.anything() } })
    expect(asked.at(-1)?.preview.body).toContain('+two')
  },
)

test.runIf(process.getuid?.() === 0)(
  'of what does not fit on the disk of the project nothing lands (FS-43)',
  async () => {
    const parent = makeFolder()
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=256k,mode=755', 'tmpfs', parent])
    atEnd(() => void execFileSync('umount', ['--lazy', parent]))
    const { project, shell } = await open({ parent })
    const before = imageOf(project)
    const line =
      'rm a.txt; rm -r deep; for i in 1 2 3 4; do head -c 100000 /dev/zero | tr "\\0" x > new$i; done'
    expect(await shell(line)).toMatchObject({ ok: false, error: { reason: 'no_space' } })
    expect(imageOf(project)).toEqual(before)
    expect(await shell('echo two >> a.txt')).toMatchObject({ ok: true })
    expect(readFileSync(join(project, 'a.txt'), 'utf8')).toBe('one\ntwo\n')
  },
)

test('a rule for other folders holds no command back', async () => {
  const other = { effect: 'deny', resources: ['handrail:file:/srv/**'] } as const
  const { shell } = await open({ policy: { rules: [...(allow('sh *').rules ?? []), other] } })
  expect((await shell("sh -c 'echo two >> a.txt'")).data).not.toHaveProperty('changes')
})

test('with "never", a command is asked about before it runs, and none can be reviewed (FS-43)', async () => {
  const { project, asked, session, shell } = await open({ sandbox: { hold: 'never' } })
  expect(await shell('echo two >> a.txt')).toMatchObject({ ok: true })
  expect(asked[0]?.preview.body).not.toContain('+two')
  expect(readFileSync(join(project, 'a.txt'), 'utf8')).toBe('one\ntwo\n')
  const reviewed = await session.call('code.run_shell', { command: 'echo three >> a.txt', review: true })
  expect(reviewed).toMatchObject({ ok: false, error: { code: 'SANDBOX.UNAVAILABLE' } })
  expect(readFileSync(join(project, 'a.txt'), 'utf8')).toBe('one\ntwo\n')
})

const rename = (from: string, to: string) => `perl -e 'rename("${from}", "${to}") or die "$!\\n"'`

test('a folder can be renamed by the system call, and what a person sees is what lands (FS-43)', async () => {
  const { project, asked, shell } = await open()
  const plain = makeFolder(files)
  renameSync(join(plain, 'deep'), join(plain, 'moved'))
  expect(await shell(`${rename('deep', 'moved')} && echo done`)).toMatchObject({ ok: true })
  expect(asked).toHaveLength(1)
  expect(asked[0]?.preview.body).toContain('+ moved/er/y.txt')
  expect(imageOf(project)).toEqual(imageOf(plain))
})

test('git moves a folder, in a dry run too (FS-43)', async () => {
  const { project, session, shell } = await open()
  const git = 'git -c user.name=a -c user.email=a@b'
  expect(await shell(`${git} init -q inner && mv inner/.git tracked`)).toMatchObject({ ok: true })
  renameSync(join(project, 'tracked'), join(project, '.git'))
  expect(await shell('git add deep')).toMatchObject({ ok: true })
  const before = imageOf(project)
  const tried = await session.call('code.run_shell', { command: 'git mv deep moved', dry_run: true })
  expect(tried).toMatchObject({ ok: true, data: { exit_code: 0 } })
  expect(imageOf(project)).toEqual(before)
  expect(await shell('git mv deep moved')).toMatchObject({ ok: true })
  expect(readdirSync(join(project, 'moved')).toSorted()).toEqual(['er', 'x.txt'])
  expect(existsSync(join(project, 'deep'))).toBe(false)
})

test.each([
  ['another command follows', 'git mv deep moved; git status --short'],
  ['its error goes through a pipe', 'git mv deep moved 2>&1 | tail -3'],
  ['a script goes on', `perl -e 'rename("deep", "moved") or warn "deep: $!"'`],
])('a folder is renamed by the system call, also if %s (FS-43)', async (_what, line) => {
  const { project, shell } = await open()
  execFileSync('git', ['init', '-q', project])
  giveAway(project)
  expect(await shell('git add deep')).toMatchObject({ ok: true })
  const result = await shell(line)
  expect(result).toMatchObject({ ok: true, data: { exit_code: 0 } })
  expect(resultText(result)).not.toMatch(/cross-device/i)
  expect(readdirSync(join(project, 'moved')).toSorted()).toEqual(['er', 'x.txt'])
  expect(existsSync(join(project, 'deep'))).toBe(false)
})

test('a command that shows a text about renames, and ends well, runs once (FS-43)', async () => {
  const { project, shell } = await open()
  writeFileSync(join(project, 'a.txt'), 'The system call fails then (EXDEV, "Invalid cross-device link").\n')
  const result = await shell('cat a.txt; stat -f -c %T .')
  expect(result.data).toMatchObject({ exit_code: 0 })
  expect(resultText(result)).toMatch(/EXDEV[^]*overlayfs/)
})

test('in a copy of the roots the same holds as in a layer over them (FS-20, FS-49, FS-60)', async () => {
  const { project, shell } = await open()
  const before = imageOf(project)
  const moving = rename('deep', 'moved')
  expect(await shell(`${moving} && echo evil > .envrc`)).toMatchObject({
    ok: false,
    error: { reason: 'protected_path' },
  })
  expect(JSON.stringify(await shell(`${moving} && cat .env moved/x.txt`))).not.toContain('hidden-value')
  expect(existsSync(join(project, '.envrc'))).toBe(false)
  const other = await open({
    meanwhile: (folder) => {
      mkdirSync(join(folder, 'deep/late'))
      giveAway(folder)
    },
  })
  expect(await other.shell(moving)).toMatchObject({ ok: false, error: { reason: 'stale_preview' } })
  expect(readdirSync(join(other.project, 'deep')).toSorted()).toEqual(['er', 'late', 'x.txt'])
  const no = await open({ decision: 'deny' })
  expect(await no.shell(moving)).toMatchObject({ ok: false, error: { reason: 'denied' } })
  expect(imageOf(no.project)).toEqual(before)
})

test('a command that only says that it could not rename does nothing twice that lasts', async () => {
  const { project, asked, shell } = await open()
  const line = 'echo x >> count.txt; echo "mv: Invalid cross-device link" >&2; exit 1'
  expect(await shell(line)).toMatchObject({ ok: false, error: { reason: 'exit_code' } })
  expect(asked).toHaveLength(1)
  expect(readFileSync(join(project, 'count.txt'), 'utf8')).toBe('x\n')
})

test('in roots too large for a copy, the error says what to do in place of a rename', async () => {
  const { project, shell } = await open()
  const large = join(project, 'large')
  writeFileSync(large, '')
  giveAway(project)
  // A file with a hole: large by its size, and not on the disk.
  truncateSync(large, 300 * 1024 * 1024)
  const result = await shell(rename('deep', 'moved'))
  expect(result).toMatchObject({ ok: false })
  expect(JSON.stringify(result)).toContain('cannot be renamed then (EXDEV)')
  expect(statSync(join(project, 'deep')).isDirectory()).toBe(true)
})
