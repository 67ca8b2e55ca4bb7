import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { codeTools, type ApprovalRequest, type RuntimeOptions } from 'handrail'
import { expect, test } from 'vitest'
import { keepOpen } from '../support/at-end.ts'
import { giveAway, makeFolder, openRuntime } from '../support/project.ts'
import { firstOf } from '../support/rounds.ts'

/** Git as a person runs it, in this folder. */
function git(folder: string, ...words: string[]): string {
  return execFileSync('git', ['-c', 'safe.directory=*', '-C', folder, ...words], {
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], HOME: '/nonexistent', GIT_CONFIG_NOSYSTEM: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  }).trim()
}

const made = keepOpen(() => initRepository())
const madeWithSide = keepOpen(() => {
  const project = initRepository()
  git(project, 'checkout', '-q', '-b', 'side')
  git(project, 'commit', '-q', '--allow-empty', '-m', 'side')
  git(project, 'checkout', '-q', 'main')
  return project
})

function makeRepository(from = made()): string {
  const project = makeFolder()
  cpSync(from, project, { recursive: true })
  return project
}

function initRepository(files: Record<string, string> = {}): string {
  const project = makeFolder({ 'a.txt': 'one\n', '.gitignore': 'built/\n', ...files })
  git(project, 'init', '-q', '-b', 'main')
  git(project, 'config', 'user.email', 'someone@example.com')
  git(project, 'config', 'user.name', 'Someone')
  commit(project)
  return project
}

function commit(folder: string): string {
  git(folder, 'add', '-A')
  git(folder, 'commit', '-q', '--no-verify', '-m', 'work')
  return git(folder, 'rev-parse', 'HEAD')
}

async function sessionOver(project: string, more: RuntimeOptions = {}) {
  giveAway(project)
  const asked: ApprovalRequest[] = []
  const runtime = await openRuntime({
    project,
    tools: [codeTools()],
    approve: async (request) => {
      asked.push(request)
      return { decision: 'allow_once' }
    },
    ...more,
  })
  const session = runtime.session()
  const inside = join(project, '.handrail/worktrees/task')
  return {
    session,
    asked,
    inside,
    enter: (input: Record<string, unknown> = { name: 'task' }) => session.call('code.enter_worktree', input),
    exit: (input: Record<string, unknown> = { action: 'remove' }) => {
      giveAway(project)
      return session.call('code.exit_worktree', { id: 'task', ...input })
    },
    put: (path: string, content: string) => {
      mkdirSync(dirname(join(inside, path)), { recursive: true })
      writeFileSync(join(inside, path), content)
    },
  }
}

test('a worktree is made on a branch of its own, worked in and found again, and git of the project does not see it (BI-6)', async () => {
  const project = makeRepository()
  const { session, enter, asked, inside } = await sessionOver(project)
  const made = await enter()
  expect(made.error).toBeUndefined()
  expect(made.data).toEqual({
    id: 'task',
    path: '.handrail/worktrees/task',
    branch: 'handrail/task',
    created: true,
  })
  expect(JSON.stringify(made.content)).toContain('The session stays in the project')
  expect(asked[0]?.preview).toMatchObject({ title: 'Make worktree task on a new branch handrail/task' })
  expect(readFileSync(join(inside, 'a.txt'), 'utf8')).toBe('one\n')
  expect(git(inside, 'branch', '--show-current')).toBe('handrail/task')
  expect(git(project, 'status', '--porcelain')).toBe('')
  const input = { path: '.handrail/worktrees/task/a.txt', content: 'two\n', overwrite: true }
  expect((await session.call('code.write_file', input)).ok).toBe(true)
  expect(readFileSync(join(project, 'a.txt'), 'utf8')).toBe('one\n')
  expect((await enter()).data).toMatchObject({ created: false, branch: 'handrail/task' })
  expect((await enter({ name: 'task', branch: 'main' })).error).toMatchObject({ reason: 'path_conflict' })
  expect((await enter({})).data).toMatchObject({ id: 'worktree-1', branch: 'handrail/worktree-1' })
})

test('a branch that is there is checked out as it is, packed or not, and one in use is not (BI-6)', async () => {
  const project = makeRepository()
  git(project, 'branch', 'topic/one')
  git(project, 'branch', 'topic/two')
  git(project, 'pack-refs', '--all')
  git(project, 'branch', 'topic/three')
  const { enter } = await sessionOver(project)
  for (const branch of ['topic/one', 'topic/three'])
    expect((await enter({ name: branch.slice(6), branch })).data).toMatchObject({ branch, created: true })
  const used = await enter({ name: 'again', branch: 'topic/one' })
  expect(used.error).toMatchObject({ reason: 'exit_code' })
  expect(used.error?.message).toContain('already checked out')
  expect(existsSync(join(project, '.handrail/worktrees/again'))).toBe(false)
})

test('a worktree without work is removed, its branch, commits and stashes stay (BI-6)', async () => {
  const project = makeRepository()
  const { enter, exit, put, inside } = await sessionOver(project)
  await enter()
  put('new.txt', 'new\n')
  const made = commit(inside)
  put('new.txt', 'stashed\n')
  git(inside, 'stash')
  const result = await exit()
  expect(result.error).toBeUndefined()
  expect(result.data).toEqual({
    id: 'task',
    path: '.handrail/worktrees/task',
    branch: 'handrail/task',
    removed: true,
    lost: [],
  })
  expect(existsSync(inside)).toBe(false)
  expect(git(project, 'rev-parse', 'handrail/task')).toBe(made)
  expect(git(project, 'stash', 'list')).toContain('stash@{0}')
  expect(git(project, 'worktree', 'list').split('\n')).toHaveLength(1)
})

test('keeping changes nothing (BI-6)', async () => {
  const { enter, exit, put, inside } = await sessionOver(makeRepository())
  await enter()
  put('new.txt', 'new\n')
  expect((await exit({})).data).toMatchObject({ removed: false })
  expect(readFileSync(join(inside, 'new.txt'), 'utf8')).toBe('new\n')
})

type Ground = Awaited<ReturnType<typeof sessionOver>>

/** Work of every kind that a removal would take along, and how it is called. */
const losses: readonly (readonly [string, (place: Ground) => void, RegExp])[] = [
  ['a changed file', ({ put }) => put('a.txt', 'two\n'), /^changed: a\.txt$/],
  ['an untracked file', ({ put }) => put('deep/new.txt', ''), /^untracked: deep\/new\.txt$/],
  ['an ignored file', ({ put }) => put('built/out.txt', ''), /^ignored: built\/out\.txt$/],
  [
    'a staged file that is gone from the folder',
    ({ put, inside }) => {
      put('staged.txt', 'work')
      git(inside, 'add', 'staged.txt')
      rmSync(join(inside, 'staged.txt'))
    },
    /^changed: staged\.txt$/,
  ],
  [
    'a commit without a branch',
    ({ put, inside }) => {
      git(inside, 'checkout', '-q', '--detach')
      put('b.txt', 'b')
      commit(inside)
    },
    /^commit on no branch: [0-9a-f]{40}$/,
  ],
  [
    'a commit without a branch that was left',
    ({ put, inside }) => {
      git(inside, 'checkout', '-q', '--detach')
      put('b.txt', 'b')
      commit(inside)
      git(inside, 'checkout', '-q', 'handrail/task')
    },
    /^commit on no branch: [0-9a-f]{40}$/,
  ],
  [
    'a file that git was told not to look at',
    ({ put, inside }) => {
      git(inside, 'update-index', '--assume-unchanged', 'a.txt')
      put('a.txt', 'hidden work')
    },
    /^hidden from git status, may be changed: a\.txt$/,
  ],
  [
    'a file that git was told to skip',
    ({ put, inside }) => {
      git(inside, 'update-index', '--skip-worktree', 'a.txt')
      put('a.txt', 'hidden work')
    },
    /^hidden from git status, may be changed: a\.txt$/,
  ],
  [
    'a repository inside',
    ({ inside, put }) => {
      put('nested/x', 'x')
      git(join(inside, 'nested'), 'init', '-q')
    },
    /^untracked: nested\/$/,
  ],
  [
    'a submodule',
    ({ inside }) => {
      const library = makeRepository()
      git(inside, '-c', 'protocol.file.allow=always', 'submodule', 'add', '-q', library, 'library')
      commit(inside)
    },
    /^submodule with its own commits and stashes: library$/,
  ],
  [
    'a merge under way',
    ({ inside }) => git(inside, 'merge', '--no-ff', '--no-commit', 'side'),
    /^state of git: MERGE_HEAD$/,
  ],
  ['a bisection under way', ({ inside }) => git(inside, 'bisect', 'start'), /^state of git: BISECT_/],
  [
    'a reference of its own',
    ({ inside }) => git(inside, 'update-ref', 'refs/worktree/mark', 'HEAD'),
    /^reference of its own: refs\/worktree\/mark$/,
  ],
]

for (const [what, make, line] of losses)
  test(`${what} is not lost unasked, and goes only after it was shown (BI-6)`, async () => {
    const project = makeRepository(madeWithSide())
    const place = await sessionOver(project)
    const { enter, exit, asked, inside } = place
    await enter()
    make(place)
    // Without a list that was shown before, discarding is not agreed to.
    for (const discard of firstOf([true, false])) {
      rmSync(join(inside, '../../../.git/worktrees/task/unsaved.json'), { force: true })
      const refused = await exit({ action: 'remove', discard_changes: discard })
      expect(refused.error).toMatchObject({ code: 'TOOL.FAILED', reason: 'work_would_be_lost' })
      expect(refused.error?.data?.['lost']).toEqual(expect.arrayContaining([expect.stringMatching(line)]))
      expect(existsSync(inside)).toBe(true)
    }
    expect(asked.at(-1)?.preview?.body).toContain('nothing is removed')
    const removed = await exit({ action: 'remove', discard_changes: true })
    expect(removed.error).toBeUndefined()
    expect(asked.at(-1)?.preview?.body.split('\n- ')).toEqual(
      expect.arrayContaining([expect.stringMatching(line)]),
    )
    expect(removed.data).toMatchObject({ removed: true })
    expect(existsSync(inside)).toBe(false)
  })

test('work that came after the list was shown is not lost (BI-6)', async () => {
  const { enter, exit, put, inside } = await sessionOver(makeRepository())
  await enter()
  put('new.txt', 'one')
  await exit()
  put('new.txt', 'other')
  const changed = await exit({ action: 'remove', discard_changes: true })
  expect(changed.error).toMatchObject({ reason: 'work_would_be_lost' })
  put('more.txt', 'more')
  const more = await exit({ action: 'remove', discard_changes: true })
  expect(more.error).toMatchObject({ data: { lost: ['untracked: more.txt', 'untracked: new.txt'] } })
  expect(readFileSync(join(inside, 'new.txt'), 'utf8')).toBe('other')
})

test('a list that somebody wrote in the place of the found one removes nothing (BI-6)', async () => {
  const project = makeRepository()
  const { session, enter, exit, put, inside } = await sessionOver(project)
  await enter()
  put('new.txt', 'work')
  await exit()
  const note = join(project, '.git/worktrees/task/unsaved.json')
  const { digest } = JSON.parse(readFileSync(note, 'utf8')) as { digest: string }
  const content = JSON.stringify({ digest, items: ['untracked: tmp'] })
  const path = '.git/worktrees/task/unsaved.json'
  expect((await session.call('code.write_file', { path, content, overwrite: true })).ok).toBe(true)
  const result = await exit({ action: 'remove', discard_changes: true })
  expect(result.error).toMatchObject({ reason: 'work_would_be_lost' })
  expect(existsSync(join(inside, 'new.txt'))).toBe(true)
})

for (const sandbox of ['bubblewrap', 'host'] as const)
  test(`no hook, filter, monitor or helper of the repository runs (BI-6, GT-14 to GT-19, ${sandbox})`, async () => {
    const project = initRepository({ '.gitattributes': '*.txt filter=mine diff=mine\n' })
    const mark = join(project, 'mark')
    const program = join(project, 'program.sh')
    writeFileSync(program, `#!/bin/sh\ntouch ${mark}\ncat\n`, { mode: 0o755 })
    for (const hook of ['post-checkout', 'post-index-change', 'reference-transaction'])
      writeFileSync(join(project, '.git/hooks', hook), `#!/bin/sh\ntouch ${mark}\n`, { mode: 0o755 })
    for (const [key, value] of [
      ['filter.mine.clean', program],
      ['filter.mine.smudge', program],
      ['filter.mine.required', 'true'],
      ['diff.mine.textconv', program],
      ['diff.external', program],
      ['core.fsmonitor', program],
      ['core.pager', program],
      ['gpg.program', program],
      ['log.showSignature', 'true'],
      ['core.sshCommand', program],
      ['alias.status', `!${program}`],
    ] as const)
      git(project, 'config', key, value)
    process.env['GIT_EXTERNAL_DIFF'] = program
    const { enter, exit, put, inside } = await sessionOver(project, { sandbox })
    const made = await enter()
    expect(made.error).toBeUndefined()
    expect(JSON.stringify(made.content)).toContain('Filters that did not run: mine.')
    // Git has to look at the content of a file that was written again.
    put('a.txt', 'one\n')
    expect((await exit()).data).toMatchObject({ removed: true })
    await enter()
    put('a.txt', 'two\n')
    expect((await exit()).error).toMatchObject({ reason: 'work_would_be_lost' })
    expect((await exit({ action: 'remove', discard_changes: true })).data).toMatchObject({ removed: true })
    delete process.env['GIT_EXTERNAL_DIFF']
    expect(existsSync(inside)).toBe(false)
    expect(existsSync(mark)).toBe(false)
  })

test('a worktree that leads to another repository is not followed (BI-6)', async () => {
  const project = makeRepository()
  const other = makeRepository()
  const { enter, exit, inside } = await sessionOver(project)
  await enter()
  for (const link of [
    `gitdir: ${other}/.git`,
    'gitdir: ../../../.git',
    `gitdir: ${project}/.git/worktrees/..`,
  ]) {
    writeFileSync(join(inside, '.git'), `${link}\n`)
    expect((await exit()).error).toMatchObject({ reason: 'unknown_worktree' })
  }
  writeFileSync(join(inside, '.git'), `gitdir: ${project}/.git/worktrees/task\n`)
  writeFileSync(join(project, '.git/worktrees/task/commondir'), `${other}/.git\n`)
  expect((await exit()).error).toMatchObject({ reason: 'unknown_worktree' })
  symlinkSync(other, join(project, '.handrail/worktrees/linked'))
  expect((await exit({ id: 'linked' })).error?.code).toMatch(/TOOL\.FAILED|SANDBOX\.CAPABILITY_BLOCKED/)
  expect(existsSync(join(other, 'a.txt'))).toBe(true)
})

test('names that are flags, lead out or are obeyed by programs are refused (BI-6, GT-05, GT-10)', async () => {
  const project = makeRepository()
  const { enter, exit, asked } = await sessionOver(project)
  for (const name of [
    '-b',
    '--force',
    '..',
    '.',
    'a/b',
    '../x',
    '/etc',
    'a b',
    'a\n',
    '.git',
    'hooks',
    'config',
    'x.lock',
    'x..y',
    '',
  ])
    expect([name, (await enter({ name })).error?.reason]).toEqual([name, 'invalid_input'])
  for (const branch of [
    '-b',
    '--upload-pack=x',
    'a..b',
    'a//b',
    '/a',
    'a/',
    'a/.b',
    'a.lock',
    '@{-1}',
    'HEAD',
    'a b',
    'a~1',
    'a:b',
    'ä\0',
    '',
  ])
    expect([branch, (await enter({ name: 'task', branch })).error?.reason]).toEqual([branch, 'invalid_input'])
  for (const input of [
    { id: '../task' },
    { id: '-f' },
    { action: 'burn' },
    { discard_changes: 'yes' },
    { force: true },
  ])
    expect([input, (await exit(input)).error?.reason]).toEqual([input, 'invalid_input'])
  expect((await exit({ id: 'nowhere' })).error).toMatchObject({ reason: 'unknown_worktree' })
  expect(asked).toEqual([])
  expect(existsSync(join(project, '.handrail'))).toBe(false)
})

test('a project without a repository of its own, or without a commit, says so (BI-6)', async () => {
  const bare = makeFolder({ 'a.txt': '' })
  expect((await (await sessionOver(bare)).enter()).error).toMatchObject({ reason: 'no_repository' })
  const fresh = makeFolder()
  git(fresh, 'init', '-q')
  const { enter } = await sessionOver(fresh)
  expect((await enter()).error).toMatchObject({ code: 'TOOL.FAILED', reason: 'exit_code' })
})

test('compatible input enters by name and by path, and exits (BI-6)', async () => {
  const { session, enter, inside } = await sessionOver(makeRepository())
  const call = (name: string, input: Record<string, unknown>) =>
    session.call(name, input, { presentation: 'compatible' })
  expect((await call('EnterWorktree', { name: 'task' })).data).toMatchObject({ id: 'task', created: true })
  for (const path of ['.handrail/worktrees/task', inside])
    expect((await call('EnterWorktree', { path })).data).toMatchObject({ id: 'task', created: false })
  expect((await call('EnterWorktree', { path: '/etc' })).error).toMatchObject({ reason: 'invalid_input' })
  expect((await enter()).data).toMatchObject({ created: false })
  expect((await call('ExitWorktree', { id: 'task', action: 'remove' })).data).toMatchObject({ removed: true })
})

test('what the tools wrote in a worktree is removed too, and nothing is missed without logs of git (BI-6)', async () => {
  const project = makeRepository()
  git(project, 'config', 'core.logAllRefUpdates', 'false')
  const { session, enter, exit, inside } = await sessionOver(project)
  await enter()
  const write = (path: string) => session.call('code.write_file', { path, content: 'x' })
  expect((await write('.handrail/worktrees/task/deep/new.txt')).ok).toBe(true)
  const look = { id: 'task', action: 'remove' }
  expect((await session.call('code.exit_worktree', look)).error).toMatchObject({
    data: { lost: ['untracked: deep/new.txt'] },
  })
  git(inside, 'checkout', '-q', '--detach')
  commit(inside)
  expect((await exit()).error).toMatchObject({
    data: { lost: [expect.stringMatching(/^commit on no branch: /)] },
  })
  const removed = await session.call('code.exit_worktree', { ...look, discard_changes: true })
  expect(removed.error).toBeUndefined()
  expect(existsSync(inside)).toBe(false)
})

test('a project that is named by a link has worktrees as any other (BI-6)', async () => {
  const link = join(makeFolder(), 'link')
  const project = makeRepository()
  symlinkSync(project, link)
  const { enter, session } = await sessionOver(link)
  expect((await enter()).data).toMatchObject({ created: true })
  giveAway(project)
  const removed = await session.call('code.exit_worktree', { id: 'task', action: 'remove' })
  expect(removed.data).toMatchObject({ removed: true })
})

test('a worktree with a sensitive file is not half removed (BI-6)', async () => {
  const { enter, exit, put, inside } = await sessionOver(makeRepository())
  await enter()
  put('.env', 'TOKEN=1')
  put('a.txt', 'two')
  await exit()
  const result = await exit({ action: 'remove', discard_changes: true })
  expect(result.error).toMatchObject({ reason: 'sensitive_path' })
  expect(readFileSync(join(inside, 'a.txt'), 'utf8')).toBe('two')
})
