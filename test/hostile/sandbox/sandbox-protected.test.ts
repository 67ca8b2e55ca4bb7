import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { keepOpen } from '../../support/at-end.ts'
import { giveAway } from '../../support/project.ts'
import { gitAsOwner } from '../../support/repository.ts'
import { atEveryEntrance, type Entrance } from '../../support/sandbox-entrances.ts'

/** What other programs of the person run or obey without asking. */
const names = [
  '.git/hooks/pre-commit',
  '.git/config',
  '.git/config.worktree',
  '.git/commondir',
  '.git/modules/x/hooks/post-checkout',
  '.git',
  '.bashrc',
  '.bash_profile',
  '.profile',
  '.zshrc',
  '.zshenv',
  '.envrc',
  '.npmrc',
  '.yarnrc.yml',
  '.ripgreprc',
  '.gitconfig',
  '.gitmodules',
  '.mcp.json',
  '.vscode/tasks.json',
  '.idea/workspace.xml',
  '.cursor/mcp.json',
  '.claude/settings.json',
  '.gemini/settings.json',
  '.codex/config.toml',
  '.windsurf/mcp.json',
  '.roo/mcp.json',
  '.kiro/settings/mcp.json',
  '.zed/settings.json',
  '.gdbinit',
  '.vimrc',
  'handrail.json',
]
/** What commands of git write, and file tools do not. */
const ofGit = [
  '.git/HEAD',
  '.git/info/attributes',
  '.git/rebase-merge/git-rebase-todo',
  '.git/worktrees/w/unsaved.json/x',
  'bare/HEAD',
]
/** The same for a file system that folds letter case, leaves letters out or knows short names. */
const aliases = [
  '.GIT/hooks/x',
  '.Git/Config',
  '.cUrSoR/mcp.json',
  '.BASHRC',
  '.g\u200cit/hooks/x',
  '.\uFF27IT/hooks/x',
  'git~1/hooks/x',
  '.npmrc.',
  '.git /hooks/x',
  'sub/.git/hooks/x',
  'sub/deep/.envrc',
  'sub/../.git/hooks/x',
]

atEveryEntrance((open) => {
  const at = keepOpen(() => open())

  test('no tool writes what other programs run or obey, under any of its names (FS-41, FS-45, FS-50)', async () => {
    const { project, call, renew } = at()
    renew({ 'sub/keep': '' })
    for (const path of [...names, ...ofGit, ...aliases]) {
      const answer = await call('code.write_file', { path, content: 'x', overwrite: true })
      expect({ path, ...answer }).toMatchObject({
        path,
        ok: false,
        code: 'SANDBOX.CAPABILITY_BLOCKED',
        reason: 'protected_path',
      })
    }
    expect(new Set<unknown>(readdirSync(project, { recursive: true }))).toEqual(new Set(['sub', 'sub/keep']))
  })

  test('nor by an edit of what is there, or through a link (FS-41, FS-50)', async () => {
    const { call, run, renew } = at()
    renew({ '.npmrc': 'a=1\n', 'x.txt': 'a' })
    expect(
      await call('code.edit_file', { path: '.npmrc', edits: [{ old: 'a=1', new: 'script-shell=evil' }] }),
    ).toMatchObject({ ok: false, reason: 'protected_path' })
    await run('sh', '-c', 'mkdir -p inner; ln -s .npmrc harmless.txt; ln -s "$PWD" inner/up')
    for (const path of ['harmless.txt', 'inner/up/.envrc'])
      expect(await call('code.write_file', { path, content: 'x', overwrite: true })).toMatchObject({
        ok: false,
        reason: 'protected_path',
      })
  })

  test('a command that stops at what is protected is told so, and whom to ask (FS-43)', async () => {
    const { project, run, renew } = at()
    renew({ '.npmrc': 'a=1\n', 'a.txt': 'a' })
    makeRepository(project)
    const why = (name: string) => `"${name}" is protected: programs of the person run or obey it`
    for (const [name, ...argv] of [
      ['.git/config', 'git', 'branch', '-m', 'renamed'],
      ['.git/config', 'git', 'remote', 'add', 'origin', 'x'],
      ['.git/config', 'git', 'config', 'user.name', 'x'],
      ['.git/config', 'git', 'init'],
      ['.git/config', 'sh', '-c', 'git config user.name x; true'],
      ['.git', 'mv', '.git', 'gone'],
      ['.npmrc', 'sh', '-c', 'echo b=1 >> .npmrc'],
    ] as const) {
      const { text } = await run(...argv)
      expect([argv, text.split(why(name)).length]).toEqual([argv, 2])
      expect(text).toContain('Ask the person')
    }
    expect((await run('sh', '-c', 'echo "a.txt: Read-only file system"')).text).not.toContain('is protected')
  })

  test('so is a job, and a command that went there first, from a worktree too (FS-43)', async () => {
    const { project, call, renew } = at()
    renew({ 'a.txt': 'a' })
    makeRepository(project)
    gitAsOwner(
      project,
      '-c',
      'user.name=a',
      '-c',
      'user.email=a@b',
      'commit',
      '-q',
      '--allow-empty',
      '-m',
      'a',
    )
    const why = /"\.git(?:\/hooks|\/config)?" is protected[^]*Ask the person/
    const job = await call('code.run_command', { argv: ['git', 'config', 'a.b', 'c'], background: true })
    expect(await endOf(at(), /job_\w+/.exec(job.seen)?.[0] ?? '')).toMatch(why)
    expect(await call('code.enter_worktree', { name: 'w' })).toMatchObject({ ok: true })
    const cwd = '.handrail/worktrees/w'
    for (const [line, where] of [
      ['cd .git/hooks && touch pre-commit', '.'],
      ['touch pre-commit', '.git/hooks'],
      ['git config a.b c', cwd],
      ['cd ../../../.git && touch hooks/pre-commit', cwd],
      ['cd "$(git rev-parse --git-common-dir)" && touch hooks/pre-commit', cwd],
    ] as const) {
      const { text } = await call('code.run_command', { argv: ['sh', '-c', line], cwd: where })
      expect([line, text]).toEqual([line, expect.stringMatching(why)])
    }
  })

  test('a command cannot change what is there: hooks, settings and their folders (FS-43, FS-50)', async () => {
    const { project, runLines, renew } = at()
    renew({ '.npmrc': 'a=1\n', '.vscode/tasks.json': '{}' })
    makeRepository(project)
    const before = read(project)
    const attempts = [
      'echo evil > .git/hooks/pre-commit',
      'rm -rf .git/hooks; mkdir .git/hooks && echo evil > .git/hooks/pre-commit',
      'git config core.hooksPath /tmp/x',
      'git config core.fsmonitor evil',
      'echo "[core]" >> .git/config',
      'mv .git/hooks .git/other && mkdir .git/hooks',
      'mv .git gone && mkdir .git',
      'mv .git/config .git/c && echo evil > .git/config',
      'rm -f .npmrc && echo evil > .npmrc',
      'echo evil >> .npmrc',
      'mv .npmrc x && echo evil > .npmrc',
      'rm -rf .vscode && mkdir .vscode && echo evil > .vscode/tasks.json',
      'echo evil > .vscode/settings.json',
      'chmod +x .git/hooks/*',
    ]
    for (const { line, ok } of (await runLines(attempts)).ends)
      expect({ line, ok }).toEqual({ line, ok: false })
    expect(read(project)).toEqual(before)
  })

  test('what a command makes where nothing was is set aside, and said (FS-41, FS-45, FS-50)', async () => {
    const { project, run, renew } = at()
    renew()
    const made = [
      'mkdir -p .git/hooks && echo evil > .git/hooks/pre-commit',
      'git init -q . && echo evil > .git/hooks/pre-commit',
      'echo evil > .envrc',
      'mkdir .vscode && echo evil > .vscode/tasks.json',
      'ln -s /etc .vscode',
      'echo evil > .bashrc; exit 3',
      'mkdir -p .GIT/hooks && echo evil > .GIT/hooks/pre-commit',
      'mkdir .cUrSoR && echo evil > .cUrSoR/mcp.json',
      'echo evil > .BashRC',
      'echo evil > ".npmrc "',
      'mkdir "git~1"',
      'mkdir made && mv made .VsCode',
    ]
    for (const attempt of made) {
      expect({ attempt, ...(await run('sh', '-c', attempt)) }).toMatchObject({
        attempt,
        ok: false,
        // It ran, so that its evidence must not say that it was denied.
        code: 'TOOL.FAILED',
        reason: 'protected_path',
      })
      const left = readdirSync(project).filter((name) => !name.includes('.blocked-'))
      expect({ attempt, left }).toEqual({ attempt, left: [] })
    }
    // Nothing that was written is lost.
    expect(readdirSync(project)).toHaveLength(made.length)
  })

  test('rights that a command takes away keep nothing in its place (FS-41, FS-50)', async () => {
    const { project, run, renew } = at()
    renew()
    makeRepository(project)
    const modeOf = (path: string) => statSync(join(project, path)).mode & 0o777
    const top = modeOf('')
    const attempts = [
      ['echo ../evil > .git/commondir; chmod 555 .git', 'protected_path', '.git/commondir'],
      ['echo evil > .envrc; chmod 555 .', 'protected_path', '.envrc'],
      ['mkdir .vscode && echo evil > .vscode/tasks.json && chmod 000 .vscode .', 'protected_path', '.vscode'],
      ['chmod 000 .git', undefined, '.git/commondir'],
    ] as const
    for (const [line, reason, path] of attempts) {
      expect({ line, ...(await run('sh', '-c', line)) }).toMatchObject({ line, reason })
      chmodSync(project, top)
      const open = (modeOf('.git') & 0o700) === 0o700
      expect({ line, made: existsSync(join(project, path)), open }).toEqual({ line, made: false, open: true })
    }
    expect(await run('git', 'status', '--short')).toMatchObject({ ok: true })
  })

  test('a command puts nothing in the place of a link (FS-41, FS-50)', async () => {
    const { project, run, renew } = at()
    const links = { '.npmrc': 'conf/npmrc', '.vscode': 'conf/vscode', '.git': 'conf/git' }
    renew({ 'conf/npmrc': 'a=1', 'conf/vscode/x': '', 'conf/git/HEAD': '' })
    for (const [name, target] of Object.entries(links)) symlinkSync(target, join(project, name))
    expect(await run('sh', '-c', 'cat .npmrc')).toMatchObject({ ok: true })
    const line = 'rm .npmrc .vscode .git; echo evil > .npmrc; mkdir .vscode; ln -s conf/evil .git'
    expect(await run('sh', '-c', line)).toMatchObject({ ok: false, reason: 'protected_path' })
    expect(readdirSync(project).map((name) => name.replace(/-[0-9a-f]{8}$/, ''))).toEqual(
      [...Object.keys(links).map((name) => `${name}.blocked`), 'conf'].toSorted(),
    )
  })

  test('what another command made is no more allowed to a command that runs on after it (FS-41, FS-50)', async () => {
    const { project, renew } = at()
    renew()
    makeRepository(project)
    const made = 'echo a > .envrc; echo a > .git/commondir; touch made; until [ -e go ]; do sleep 0.01; done'
    const first = await startJob(at(), made, 'made')
    const gone = 'touch up; while [ -e .envrc ] || [ -e .git/commondir ]; do sleep 0.01; done'
    const second = await startJob(at(), `${gone}; echo evil > .envrc; echo evil > .git/commondir`, 'up')
    writeFileSync(join(project, 'go'), '')
    for (const id of [first, second]) expect(await endOf(at(), id)).toContain('.envrc", "')
    expect(existsSync(join(project, '.git/commondir'))).toBe(false)
    expect(readdirSync(project).filter((name) => !name.includes('.blocked-'))).toEqual(
      ['.git', 'go', 'made', 'up'].toSorted(),
    )
  })

  test('what the person replaces while a command runs is told, since the command could change it (FS-43)', async () => {
    const { project, renew } = at()
    renew({ '.npmrc': 'a=1\n' })
    makeRepository(project)
    const writes = 'until grep -q evil .git/config; do echo "[evil]" >> .git/config; sleep 0.01; done'
    const id = await startJob(at(), `touch up; ${writes} 2> /dev/null`, 'up')
    gitAsOwner(project, 'config', 'user.name', 'Someone Else')
    expect(await endOf(at(), id)).toContain('".git/config" was replaced')
    expect(readFileSync(join(project, '.git/config'), 'utf8')).toMatch(/Someone Else[^]*evil/)
  })

  test('in a repository a command makes no other place for settings (FS-43)', async () => {
    const { project, run, renew } = at()
    renew()
    makeRepository(project)
    for (const name of ['commondir', 'config.worktree', 'modules']) {
      expect(await run('sh', '-c', `echo evil > .git/${name}`)).toMatchObject({ reason: 'protected_path' })
      expect(existsSync(join(project, '.git', name))).toBe(false)
    }
  })

  test('git works in a repository as long as it leaves its settings alone', async () => {
    const { project, runLines, renew } = at()
    renew({ 'a.txt': 'a\n' })
    makeRepository(project)
    const git = 'git -c user.name=a -c user.email=a@example.com'
    const steps = [
      'git status --short',
      'git add a.txt',
      `${git} commit -q -m first`,
      'git switch -q -c other',
      'echo b >> a.txt && git diff --stat',
      `${git} commit -q -a -m second`,
      'git log --oneline',
      'git stash list && git tag v1 && git branch -v',
      'git switch -q - && git merge -q --ff-only other',
    ]
    for (const { line, ok, text } of (await runLines(steps)).ends)
      expect({ line, ok, text }).toMatchObject({ line, ok: true })
    expect(readFileSync(join(project, 'a.txt'), 'utf8')).toBe('a\nb\n')
  })
})

/** Starts a command line in the background that makes a file, and gives the id of its job once that is there. */
async function startJob({ project, call }: Entrance, line: string, made: string): Promise<string> {
  const { seen } = await call('code.run_command', { argv: ['sh', '-c', line], background: true })
  await vi.waitFor(() => expect(existsSync(join(project, made))).toBe(true))
  return /job_\w+/.exec(seen)?.[0] ?? ''
}

/** What is told of a job once it has ended. */
async function endOf({ call }: Entrance, id: string): Promise<string> {
  return (await call('job.output', { id, wait_ms: 60_000 })).text
}

/** A repository whose owner is whoever owns the project. */
function makeRepository(project: string): void {
  const { uid, gid } = statSync(project)
  if (uid === process.getuid?.()) execFileSync('git', ['init', '-q', project])
  else
    execFileSync(
      'setpriv',
      [`--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', 'git', 'init', '-q', project],
      { cwd: '/', env: { PATH: process.env['PATH'] ?? '' } },
    )
  if (uid === 65_534) giveAway(project)
}

/** Everything below a folder that counts here: git's own objects and index may change. */
function read(project: string): Record<string, string> {
  const places = readdirSync(project, { recursive: true, encoding: 'utf8' }).filter((path) =>
    /^(?:\.npmrc|\.vscode|\.git\/hooks|\.git\/config)/.test(path),
  )
  return Object.fromEntries(
    places.map((path) => {
      const stat = statSync(join(project, path))
      return [path, stat.isFile() ? `${stat.mode} ${readFileSync(join(project, path), 'utf8')}` : 'folder']
    }),
  )
}
