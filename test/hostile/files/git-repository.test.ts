import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { keepOpen } from '../../support/at-end.ts'
import { makeFolder } from '../../support/project.ts'
import { gitAsOwner, makeRepository } from '../../support/repository.ts'
import { atOpenEntrances, type Entrance } from '../../support/sandbox-entrances.ts'

const canary = 'canary-of-the-host-5527'

/** Commands that read, or write, outside of the project, `{OUT}` being a folder there that everybody may write. */
const outward: readonly (readonly [id: string, ...lines: readonly string[]])[] = [
  [
    'GT-08',
    'git diff --no-index /dev/null {OUT}/canary.txt',
    'git blame --contents {OUT}/canary.txt a.txt',
    'git hash-object -w {OUT}/canary.txt',
    'git grep --no-index canary {OUT}',
    'git -C {OUT}/repository log -p',
  ],
  ['GT-10', 'git --git-dir={OUT}/repository/.git log -p', 'git clone -q {OUT}/repository copy'],
  [
    'GT-12',
    'git init -q /etc/x',
    'git init -q {OUT}/x',
    'git clone -q . {OUT}/x',
    'git worktree add {OUT}/x',
    'git log --output={OUT}/x',
    'git archive -o {OUT}/x.tar HEAD',
    'git format-patch --root -o {OUT}/x HEAD',
    'git bundle create {OUT}/x HEAD',
  ],
]

/** Settings of a repository by which git runs a program, `{P}` being one of the attacker. */
const settings: readonly (readonly [
  id: string,
  ...settings: readonly (readonly [key: string, value: string])[],
])[] = [
  [
    'GT-14, GT-15',
    ['diff.external', '{P}'],
    ['core.pager', '{P}'],
    ['pager.status', '{P}'],
    ['interactive.diffFilter', '{P}'],
    ['diff.t.textconv', '{P}'],
    ['diff.t.command', '{P}'],
    ['filter.t.clean', '{P}'],
    ['filter.t.smudge', '{P}'],
    ['filter.t.process', '{P}'],
    ['filter.t.required', 'true'],
    ['merge.t.driver', '{P} %O %A %B'],
  ],
  [
    'GT-17, GT-21',
    ['core.hooksPath', '{WS}/hooks'],
    ['core.fsmonitor', '{P}'],
    ['core.sshCommand', '{P}'],
    ['core.askPass', '{P}'],
    ['core.editor', '{P}'],
    ['core.alternateRefsCommand', '{P}'],
    ['gpg.program', '{P}'],
    ['log.showSignature', 'true'],
    ['commit.gpgSign', 'true'],
    ['credential.helper', '!{P}'],
    ['uploadpack.packObjectsHook', '{P}'],
    ['gc.auto', '1'],
    ['sequence.editor', '{P}'],
    ['trailer.x.command', '{P}'],
    ['alias.status', '!{P}'],
    ['alias.worktree', '!{P}'],
    ['alias.rev-parse', '!{P}'],
    ['include.path', '{WS}/included'],
    ['extensions.worktreeConfig', 'true'],
    ['core.worktree', '/'],
    ['user.email', '$(touch {WS}/mark)'],
    ['user.name', '`touch {WS}/mark`'],
    ['user.useConfigOnly', 'true'],
  ],
]

const hookNames = [
  'post-checkout',
  'post-index-change',
  'reference-transaction',
  'pre-commit',
  'post-rewrite',
]

/** Variables of Handrail's own environment by which git would run a program or look elsewhere. */
const variables = {
  GIT_EXTERNAL_DIFF: '/tmp/evil',
  GIT_SSH_COMMAND: '/tmp/evil',
  GIT_PAGER: '/tmp/evil',
  GIT_CONFIG_COUNT: '1',
  GIT_CONFIG_KEY_0: 'core.fsmonitor',
  GIT_CONFIG_VALUE_0: 'touch mark; true',
  GIT_CONFIG_PARAMETERS: "'alias.status=!touch mark'",
  GIT_DIR: '/nowhere',
  GIT_WORK_TREE: '/nowhere',
  GIT_EXEC_PATH: '/nowhere',
  GIT_TEMPLATE_DIR: '/nowhere',
  GIT_PROXY_COMMAND: '/tmp/evil',
}

const files = { 'a.txt': 'one\n', '.gitattributes': '*.txt diff=t filter=t merge=t\n' }

atOpenEntrances({ files, env: variables }, (at) => {
  const place = keepOpen(() => plant(at()))

  test.each(outward)('%s reaches nothing outside: %s, …', async (_id, ...lines) => {
    const { away, fill } = place()
    const before = readdirSync(away)
    // What a command makes at that place is its own, and gone with it.
    const { seen } = await at().run('sh', '-c', fill(lines.join(' ; ')))
    expect(seen).not.toContain(canary)
    expect(readdirSync(away)).toEqual(before)
    expect(existsSync('/etc/x')).toBe(false)
  })

  test.each(['..', '/', '{OUT}/repository', '/proc/self/root'])('GT-10 git in %j is refused', async (cwd) => {
    const answer = await at().call('code.run_command', { argv: ['git', 'log'], cwd: place().fill(cwd) })
    expect(answer).toMatchObject({ ok: false, reason: 'path_outside_roots' })
  })

  test('GT-18 a folder that only looks like a repository is none, wherever git starts', async () => {
    const { run, project } = at()
    const { fill, set, mark } = place()
    set([])
    const settings = fill(
      '[core]\\n\\trepositoryformatversion = 0\\n\\tbare = false\\n\\tworktree = ..\\n\\tfsmonitor = {P}\\n',
    )
    await run(
      'sh',
      '-c',
      `mkdir -p bare/objects bare/refs; echo "ref: refs/heads/main" > bare/HEAD; printf '${settings}' > bare/config`,
    )
    for (const line of ['cd bare && git status', 'git -C bare status', 'cd bare/refs && git status'])
      expect(await run('sh', '-c', line)).toMatchObject({ ok: false, reason: 'exit_code' })
    expect(existsSync(mark)).toBe(false)
    expect(await run('git', '-C', project, '-c', 'core.fsmonitor=false', 'status')).toMatchObject({
      ok: true,
    })
  })

  test('GT-19 git sees no variable of Handrail that would change what it runs', async () => {
    const { text } = await at().run('env')
    expect(text).not.toMatch(/^GIT_/m)
    expect((await at().run('git', '-c', 'core.fsmonitor=false', 'log', '--oneline')).text).toContain('work')
  })

  test.each(settings.map(([id, ...pairs]) => [id, pairs] as const))(
    '%s no program that the repository names runs for a worktree: %j',
    async (_id, pairs) => {
      const { call } = at()
      const { fill, set, mark } = place()
      set(pairs.map(([key, value]) => [key, fill(value)]))
      expect(await call('code.enter_worktree', { name: 'task' })).toMatchObject({ ok: true })
      // Git has to look at the content of a file that was written again.
      const path = '.handrail/worktrees/task/a.txt'
      await call('code.write_file', { path, content: 'one\n', overwrite: true })
      expect(await call('code.exit_worktree', { id: 'task', action: 'remove' })).toMatchObject({ ok: true })
      expect(existsSync(mark)).toBe(false)
    },
  )

  test('FS-43 settings of a repository inside the project are not obeyed', async () => {
    const { call, run, project } = at()
    const { fill, set, mark } = place()
    set([])
    const script = fill(
      'git init -q sub && cd sub && git config core.hooksPath {WS}/hooks && git config core.fsmonitor {P}',
    )
    await run('sh', '-c', script)
    expect(await call('code.enter_worktree', { name: 'other' })).toMatchObject({ ok: true })
    await run(
      'sh',
      '-c',
      fill('cp -r sub .handrail/worktrees/other/; cp .git/config .handrail/worktrees/other/'),
    )
    const refused = await call('code.exit_worktree', { id: 'other', action: 'remove' })
    expect(refused).toMatchObject({ ok: false, reason: 'work_would_be_lost' })
    await call('code.exit_worktree', { id: 'other', action: 'remove', discard_changes: true })
    expect(existsSync(join(project, '.handrail/worktrees/other'))).toBe(false)
    expect(existsSync(mark)).toBe(false)
  })
})

/** A repository with hooks of the attacker, a folder outside, and a way to set what the repository says of git. */
function plant({ project }: Entrance) {
  makeRepository(project)
  const away = makeFolder({ 'canary.txt': canary })
  chmodSync(away, 0o777)
  mkdirSync(join(away, 'repository'))
  writeFileSync(join(away, 'repository', 'a.txt'), canary)
  makeRepository(join(away, 'repository'))
  const mark = join(project, 'mark')
  const program = join(project, 'p')
  const script = `#!/bin/sh\ntouch ${mark}\ncat\n`
  writeFileSync(program, script, { mode: 0o755 })
  mkdirSync(join(project, 'hooks'))
  for (const hook of hookNames)
    for (const folder of ['.git/hooks', 'hooks'])
      writeFileSync(join(project, folder, hook), script, { mode: 0o755 })
  writeFileSync(join(project, 'included'), `[core]\n\tfsmonitor = ${program}\n`)
  const config = join(project, '.git/config')
  const fill = (text: string) =>
    text.replaceAll('{OUT}', away).replaceAll('{P}', program).replaceAll('{WS}', project)
  return {
    away,
    mark,
    fill,
    set: (pairs: readonly (readonly [string, string])[]) => {
      for (const path of [mark, `${config}.of-test`]) rmSync(path, { force: true })
      for (const [key, value] of pairs)
        gitAsOwner(project, 'config', '--file', `${config}.of-test`, key, value)
      gitAsOwner(project, 'config', '--local', 'include.path', 'config.of-test')
    },
  }
}
