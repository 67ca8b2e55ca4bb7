import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  statSync,
  watch,
  writeFileSync,
} from 'node:fs'
import { randomUUID } from 'node:crypto'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { codeTools, type ApprovalAnswer, type ApprovalRequest, type Policy } from 'handrail'
import { expect, test } from 'vitest'
import { atEnd, keepOpen } from '../../support/at-end.ts'
import { findProcesses } from '../../support/processes.ts'
import { giveAway, openRuntime, makeFolder } from '../../support/project.ts'
import { imageOf } from '../../support/undo.ts'
import { atEveryEntrance, type EntranceOptions } from '../../support/sandbox-entrances.ts'

const files = {
  'a.txt': 'one\ntwo\n',
  'b.txt': 'b',
  'sub/c.txt': 'c',
  '.npmrc': 'x=1',
  '.env': 'KEY=hidden-value',
}

atEveryEntrance((open) => {
  const at = keepOpen(() =>
    open({ configuration: { sandbox: { hold: 'always' } }, env: { TMPDIR: tmpdir() } }),
  )

  test('what a command changes lands as it left it, and the result names each path (FS-43)', async () => {
    const { project, renew, call } = at()
    renew(files)
    const line =
      'echo three >> a.txt; rm b.txt; mkdir -m 750 new; echo n > new/n.txt; chmod 640 new/n.txt; mv sub moved; ln -s a.txt link; touch -d 2001-02-03 old; cat a.txt'
    const answer = await call('code.run_command', { argv: ['sh', '-c', line] })
    expect({ ok: answer.ok, text: answer.text }).toEqual({ ok: true, text: expect.stringContaining('three') })
    for (const part of [
      'It changed',
      '~ a.txt',
      '- b.txt',
      '+ new/n.txt',
      '+ moved/c.txt',
      '+ link (link to a.txt)',
    ])
      expect(answer.text).toContain(part)
    expect(readFileSync(join(project, 'a.txt'), 'utf8')).toBe('one\ntwo\nthree\n')
    expect([existsSync(join(project, 'b.txt')), existsSync(join(project, 'sub'))]).toEqual([false, false])
    expect(statSync(join(project, 'new')).mode & 0o777).toBe(0o750)
    expect(statSync(join(project, 'new/n.txt')).mode & 0o777).toBe(0o640)
    expect(readlinkSync(join(project, 'link'))).toBe('a.txt')
    expect(statSync(join(project, 'old')).mtime.getFullYear()).toBe(2001)
    expect(readdirSync(project).filter((name) => name.startsWith('.handrail'))).toEqual([])
  })

  test('no protected name is in force for a moment, and with one of them nothing of the command is kept (FS-49)', async () => {
    const { project, renew, call } = at()
    renew(files)
    await call('code.run_command', { argv: ['true'] })
    const before = imageOf(project)
    const seen: string[] = []
    const watcher = watch(project, (_event, name) => void seen.push(String(name)))
    atEnd(() => watcher.close())
    for (const line of [
      'echo evil > .envrc; echo x > a.txt; sleep 0.3',
      'mkdir .vscode; echo {} > .vscode/tasks.json; sleep 0.3',
      'git init -q .; echo evil > .git/hooks/pre-commit',
      'mkdir .git; echo ../evil > .git/commondir; chmod 555 .git; chmod 555 .',
      'ln -s b.txt .bashrc',
    ]) {
      const answer = await call('code.run_command', { argv: ['sh', '-c', line] })
      expect({ line, ok: answer.ok, reason: answer.reason }).toEqual({
        line,
        ok: false,
        reason: 'protected_path',
      })
      expect({ line, left: imageOf(project) }).toEqual({ line, left: before })
    }
    expect(seen.filter((name) => /envrc|vscode|git|bashrc/.test(name))).toEqual([])
  })

  test('what is about to land lies where no other command can reach it (FS-49)', async () => {
    const { project, renew, call } = at()
    renew(files)
    const seen: string[] = []
    const watcher = watch(project, (_event, name) => void seen.push(String(name)))
    atEnd(() => watcher.close())
    const answer = await call('code.run_command', { argv: ['sh', '-c', 'echo new > made; echo x >> a.txt'] })
    expect(answer.ok).toBe(true)
    await expect.poll(() => seen).toContain('made')
    // It lies in the folder for temporary files, on the same mount: no command sees that, and no watcher of the project.
    expect(seen.some((name) => name.startsWith('.handrail-'))).toBe(false)
  })

  test('what a command closes to its own user stays as it was below (FS-45)', async () => {
    const { project, renew, call } = at()
    renew(files)
    const line = (text: string) => call('code.run_command', { argv: ['sh', '-c', text] })
    expect(await line('chmod 000 sub; chmod 200 b.txt; chmod 111 .')).toMatchObject({ ok: true })
    expect(statSync(join(project, 'sub')).mode & 0o777).toBe(0)
    expect(statSync(join(project, 'b.txt')).mode & 0o777).toBe(0o200)
    chmodSync(join(project, 'sub'), 0o755)
    chmodSync(project, 0o755)
    chmodSync(join(project, 'b.txt'), 0o644)
    expect(readdirSync(project).toSorted()).toEqual(['.env', '.npmrc', 'a.txt', 'b.txt', 'sub'])
    expect(readFileSync(join(project, 'sub/c.txt'), 'utf8')).toBe('c')
    expect(readFileSync(join(project, 'b.txt'), 'utf8')).toBe('b')
    await line('rm sub/c.txt; chmod 000 sub; echo kept > closed; chmod 000 closed')
    chmodSync(join(project, 'sub'), 0o755)
    expect(readdirSync(join(project, 'sub'))).toEqual([])
    chmodSync(join(project, 'closed'), 0o644)
    expect(readFileSync(join(project, 'closed'), 'utf8')).toBe('kept\n')
  })

  test('a change lands whatever its size and times say (FS-43)', async () => {
    const { project, renew, call } = at()
    renew(files)
    const line = 'cp -p a.txt .was; printf "ONE\ntwo\n" > a.txt; touch -r .was a.txt; rm .was; : >> b.txt'
    const answer = await call('code.run_command', { argv: ['sh', '-c', line] })
    expect(answer.text).toContain('It changed 1 path')
    expect(readFileSync(join(project, 'a.txt'), 'utf8')).toBe('ONE\ntwo\n')
  })

  test('what a command that was stopped had written is dropped (TURN-7)', async () => {
    const { project, renew, call } = at()
    renew(files)
    const before = imageOf(project)
    const answer = await call('code.run_command', {
      argv: ['sh', '-c', 'echo half > a.txt; sleep 30'],
      timeout_ms: 2_000,
    })
    expect(answer).toMatchObject({ ok: false, reason: 'timed_out' })
    expect(answer.text).toContain('Nothing of what the command wrote was kept')
    expect(imageOf(project)).toEqual(before)
  })

  test('what changed underneath while a command ran is a conflict, and nothing lands (FS-60)', async () => {
    const { project, renew, call } = at()
    renew(files)
    const { line, whileItRuns } = makePause(project)
    const running = call('code.run_command', {
      argv: ['sh', '-c', `${line}; echo mine >> a.txt; echo x > new.txt`],
    })
    await whileItRuns(() => writeFileSync(join(project, 'a.txt'), 'of another\n'))
    const answer = await running
    expect(answer.ok).toBe(false)
    expect(answer.text).toContain('a.txt')
    expect(readFileSync(join(project, 'a.txt'), 'utf8')).toBe('of another\n')
    expect(existsSync(join(project, 'new.txt'))).toBe(false)
  })
})

/** A command line that waits until another program has changed something, which it does once that command runs. */
function makePause(project: string) {
  const id = randomUUID()
  const mark = `pause-${id}`
  writeFileSync(join(project, mark), '')
  return {
    // Only a program of the command has the whole mark in its environment.
    line: `PAUSE=pause-''${id} sh -c 'while ! test -s $PAUSE; do sleep 0.02; done'`,
    whileItRuns: async (change: () => void) => {
      await expect.poll(() => findProcesses(mark)).not.toEqual([])
      change()
      writeFileSync(join(project, mark), 'go on')
    },
  }
}

interface Held extends Pick<EntranceOptions, 'policy'> {
  readonly answer?: ApprovalAnswer | ((request: ApprovalRequest) => ApprovalAnswer)
  readonly review?: 'always' | 'protected' | 'never'
  readonly mode?: 'default' | 'accept-edits' | 'bypass'
  readonly policy?: Policy
}

async function openHeld({ answer = { decision: 'allow_once' }, review, mode, policy }: Held = {}) {
  const project = makeFolder(files)
  const asked: ApprovalRequest[] = []
  const runtime = await openRuntime({
    project,
    store: 'memory',
    sandbox: { hold: 'always' },
    tools: [codeTools({ shell: true, commands: { ...(review !== undefined && { review }) } })],
    ...(policy !== undefined && { policy }),
    approve: async (request) => {
      asked.push(request)
      return typeof answer === 'function' ? answer(request) : answer
    },
  })
  const session = runtime.session(mode === undefined ? {} : { mode })
  const shell = (command: string) => session.call('code.run_shell', { command })
  return { project, asked, session, shell }
}

test('a command that is asked about has run when the person sees it, and their yes lands exactly that (FS-43)', async () => {
  let during: ReturnType<typeof imageOf> = {}
  const { project, asked, shell } = await openHeld({
    answer: () => {
      during = imageOf(project)
      return { decision: 'allow_once' }
    },
  })
  const before = imageOf(project)
  const result = await shell('echo three >> a.txt; echo "said so"')
  expect(result).toMatchObject({ ok: true, metadata: { approval: { decision: 'allow_once' } } })
  expect(during).toEqual(before)
  expect(asked).toHaveLength(1)
  expect(asked[0]?.preview.kind).toBe('diff')
  for (const part of ['echo three', 'exit code 0', 'said so', '~ a.txt', '+three', 'sha256:'])
    expect(asked[0]?.preview.body).toContain(part)
  expect(readFileSync(join(project, 'a.txt'), 'utf8')).toBe('one\ntwo\nthree\n')
})

test('a no leaves nothing: neither in the files nor in the result (FS-43)', async () => {
  const { project, asked, shell, session } = await openHeld({
    answer: { decision: 'deny', reason: 'not now' },
  })
  const before = imageOf(project)
  const told: string[] = []
  session.on(({ summary }) => void told.push(summary ?? ''))
  const result = await shell('echo three >> a.txt; echo secret-output; cat b.txt')
  expect(result).toMatchObject({ ok: false, error: { code: 'POLICY.APPROVAL_DENIED', reason: 'denied' } })
  expect(JSON.stringify([result, told])).not.toContain('secret-output')
  expect(asked).toHaveLength(1)
  expect(imageOf(project)).toEqual(before)
})

test('a command that a rule lets look, and that wrote, lands nothing unless the person says so (PERM-10)', async () => {
  const policy: Policy = {
    rules: [{ effect: 'allow', tools: ['code.run_shell'], commands: ['git *', 'sed -n *'] }],
  }
  const no = await openHeld({ policy, answer: { decision: 'deny' } })
  expect(await no.shell('git init -q repo && true')).toMatchObject({ ok: false })
  const { project, asked, shell } = await openHeld({ policy, answer: { decision: 'deny' } })
  // A program of the name lies first in the search path of the command, and does something else.
  expect(await shell('sed -n 1p a.txt')).toMatchObject({ ok: true })
  expect(asked).toEqual([])
  expect(existsSync(join(project, 'mark'))).toBe(false)
})

test('rules on paths hold for what a command writes, whatever program wrote it (PERM-10)', async () => {
  const policy: Policy = {
    rules: [
      { effect: 'allow', tools: ['code.run_shell'], commands: ['sh *'] },
      { effect: 'deny', resources: ['handrail:file:{project}/gen/**'] },
      { effect: 'ask', resources: ['handrail:file:{project}/ask.txt'] },
    ],
  }
  const { project, asked, shell } = await openHeld({ policy, answer: { decision: 'deny' } })
  const script = join(project, 's.sh')
  writeFileSync(script, 'echo x > new.txt\n')
  expect(await shell('sh s.sh')).toMatchObject({ ok: true })
  expect(asked).toEqual([])
  writeFileSync(script, 'mkdir gen; echo x > gen/x; echo x > other.txt\n')
  expect(await shell('sh s.sh')).toMatchObject({
    ok: false,
    error: { code: 'POLICY.DENY_TOOL', reason: 'rule_denied' },
  })
  expect(asked).toEqual([])
  writeFileSync(script, 'echo y > ask.txt; echo y > other.txt\n')
  expect(await shell('sh s.sh')).toMatchObject({ ok: false, error: { reason: 'denied' } })
  expect(asked).toHaveLength(1)
  expect(readdirSync(project).toSorted()).toEqual(
    [...Object.keys(files), 'new.txt', 's.sh', 'sub'].filter((name) => !name.includes('/')).toSorted(),
  )
})

test('a nested repository and a file that others obey land only with a yes, also in bypass mode (FS-49)', async () => {
  const policy: Policy = { allowBypass: true }
  const { project, asked, shell } = await openHeld({ policy, mode: 'bypass', answer: { decision: 'deny' } })
  const before = imageOf(project)
  for (const line of [
    'git init -q inner',
    'mkdir deep && echo evil > deep/.envrc',
    'mkdir bare && cd bare && git init -q --bare .',
    'git init -q x && mv x/.git sub/.GIT',
  ])
    expect({ line, result: await shell(line) }).toMatchObject({
      line,
      result: { ok: false, error: { reason: 'denied' } },
    })
  expect(asked).toHaveLength(4)
  expect(imageOf(project)).toEqual(before)
  expect(await shell('echo free > free.txt')).toMatchObject({ ok: true })
  expect(asked).toHaveLength(4)
})

test('with review "always" every change is shown first, with "never" none, and what would be asked is refused (FS-43)', async () => {
  const allow: Policy = {
    rules: [
      { effect: 'allow', tools: ['code.run_shell'], commands: ['sh *', 'echo *'] },
      { effect: 'ask', resources: ['handrail:file:{project}/ask.txt'] },
    ],
  }
  const always = await openHeld({ policy: allow, review: 'always' })
  mkdirSync(join(always.project, 'x'))
  writeFileSync(join(always.project, 's.sh'), 'echo 1 > one\n')
  expect(await always.shell('sh s.sh')).toMatchObject({ ok: true })
  expect(always.asked.map(({ because }) => because.rule)).toEqual(['review'])
  expect(await always.shell('echo hi')).toMatchObject({ ok: true })
  expect(always.asked).toHaveLength(1)
  const never = await openHeld({ policy: allow, review: 'never' })
  writeFileSync(join(never.project, 's.sh'), 'echo 1 > ask.txt\n')
  expect(await never.shell('sh s.sh')).toMatchObject({ ok: false, error: { code: 'POLICY.APPROVAL_DENIED' } })
  expect(never.asked).toEqual([])
  const before = await openHeld({ review: 'never' })
  await before.shell('echo hi')
  expect(before.asked[0]?.preview.kind).toBe('argv')
})

test('what a person reads shows neither a sensitive file nor one that the tool may not read (FS-20)', async () => {
  const policy: Policy = {
    rules: [{ effect: 'deny', tools: ['code.run_shell'], resources: ['handrail:file:{project}/none/**'] }],
  }
  const { asked, shell } = await openHeld({ policy, answer: { decision: 'deny' } })
  await shell('rm .env; ln -s .env shown; cp .env copy; echo x > a.txt')
  expect(asked).toHaveLength(1)
  expect(asked[0]?.preview.body).not.toContain('hidden-value')
})

test('a yes to a command before it ran is none to protected or sensitive paths that it then wrote (FS-49, PERM-3)', async () => {
  const policy: Policy = { rules: [{ effect: 'ask', tools: ['code.run_shell'] }] }
  for (const path of ['deep/.envrc', 'd/.env']) {
    const { project, asked, shell } = await openHeld({ policy, review: 'never' })
    const result = await shell(`mkdir -p $(dirname ${path}); echo evil > ${path}`)
    expect(result).toMatchObject({ ok: false, error: { code: 'POLICY.APPROVAL_DENIED' } })
    expect([asked.length, existsSync(join(project, path))]).toEqual([1, false])
  }
})

test('inside of .git, what programs obey is asked about, and what git writes is not (FS-45)', async () => {
  const policy: Policy = { allowBypass: true }
  const { project, asked, shell } = await openHeld({ policy, mode: 'bypass', answer: { decision: 'deny' } })
  mkdirSync(join(project, '.git'))
  writeFileSync(join(project, '.git/HEAD'), 'ref: refs/heads/main\n')
  for (const name of readdirSync(project))
    chownSync(join(project, name), statSync(project).uid, statSync(project).gid)
  chmodSync(join(project, '.git'), 0o777)
  for (const line of [
    'mkdir -p .git/x/.git',
    'echo evil > .git/.envrc',
    'mkdir .git/y; echo x > .git/y/HEAD',
    'mkdir .git/remotes; echo "URL: https://elsewhere.example/r" > .git/remotes/origin',
    'mkdir .git/branches; echo https://elsewhere.example/r > .git/branches/b',
  ])
    expect({ line, result: await shell(line) }).toMatchObject({
      line,
      result: { ok: false, error: { reason: 'denied' } },
    })
  expect(asked).toHaveLength(5)
  expect(
    await shell(
      'mkdir -p .git/logs/refs .git/refs/remotes/origin; echo x > .git/logs/HEAD; echo x > .git/refs/remotes/origin/HEAD',
    ),
  ).toMatchObject({ ok: true })
  expect(asked).toHaveLength(5)
})

test.each(['COMMIT_EDITMSG', 'logs/HEAD', 'refs/heads/x', 'index', 'HEAD', 'info'])(
  'no link lands in .git, through which git of the person would write elsewhere: %s (FS-49)',
  async (name) => {
    const policy: Policy = { allowBypass: true }
    const { project, asked, shell } = await openHeld({ policy, mode: 'bypass' })
    execFileSync('git', ['init', '-q', project])
    giveAway(project)
    const before = imageOf(project)
    const line = `mkdir -p .git/logs; rm -rf .git/${name}; ln -s ../../a.txt .git/${name}`
    expect(await shell(line)).toMatchObject({ ok: false, error: { reason: 'protected_path' } })
    expect([imageOf(project), asked]).toEqual([before, []])
  },
)

test('what a person must see comes first, however much there is, and no name forges a line (PERM-6)', async () => {
  const { asked, shell } = await openHeld({ answer: { decision: 'deny' } })
  await shell(
    'mkdir a z; i=0; while [ $i -lt 300 ]; do i=$((i+1)); echo > a/$i; done; git init -q z; echo x > "$(printf \'n\\nall of it: forged\')"',
  )
  const lines = asked[0]?.preview.body.split('\n') ?? []
  const named = (path: string) => lines.findIndex((line) => line.startsWith(`+ ${path}`))
  expect(named('z/.git/config')).toBeGreaterThan(0)
  expect(named('z/.git/config')).toBeLessThan(named('a/1 '))
  expect(lines.filter((line) => line.startsWith('all of it: '))).toHaveLength(1)
})

test('a folder that another one took the place of while a command ran, or while the person was asked, is a conflict (FS-60)', async () => {
  const swap = (project: string) => {
    renameSync(join(project, 'sub'), join(project, 'was'))
    renameSync(join(project, 'other'), join(project, 'sub'))
    // What is put into it then makes its times look as if it had always been there.
    writeFileSync(join(project, 'sub/stamp'), '')
  }
  const tree = (project: string) => {
    mkdirSync(join(project, 'other'))
    writeFileSync(join(project, 'other/c.txt'), 'important')
    writeFileSync(join(project, 'other/d.txt'), 'important too')
    for (const name of ['other', 'other/c.txt', 'other/d.txt', 'sub', 'sub/c.txt'])
      chownSync(join(project, name), statSync(project).uid, statSync(project).gid)
    for (const name of ['other', 'sub']) chmodSync(join(project, name), 0o777)
    for (const name of ['other/c.txt', 'sub/c.txt']) chmodSync(join(project, name), 0o666)
  }
  let place = ''
  const asking = await openHeld({
    answer: () => {
      swap(place)
      return { decision: 'allow_once' }
    },
  })
  place = asking.project
  tree(place)
  expect(await asking.shell('echo x >> sub/c.txt')).toMatchObject({
    ok: false,
    error: { reason: 'stale_preview' },
  })
  const running = await openHeld()
  tree(running.project)
  const { line, whileItRuns } = makePause(running.project)
  const command = running.shell(`echo x > sub/new; ${line}`)
  await whileItRuns(() => swap(running.project))
  expect(await command).toMatchObject({ ok: false, error: { reason: 'stale_preview' } })
  for (const { project } of [asking, running])
    expect(['c.txt', 'd.txt'].map((name) => readFileSync(join(project, 'sub', name), 'utf8'))).toEqual([
      'important',
      'important too',
    ])
})

test.runIf(process.getuid?.() === 0)(
  "a file of another user that a command moves stays that user's, and closed to the command (FS-26)",
  async () => {
    const { project, shell } = await openHeld()
    writeFileSync(join(project, 'private'), 'of root', { mode: 0o600 })
    chownSync(join(project, 'private'), 0, 0)
    expect(await shell('mv private got; mkdir d; ln -s got link')).toMatchObject({ ok: true })
    const { uid, mode } = statSync(join(project, 'got'))
    expect([uid, mode & 0o777]).toEqual([0, 0o600])
    expect(lstatSync(join(project, 'd')).uid).not.toBe(0)
    expect(lstatSync(join(project, 'link')).uid).not.toBe(0)
    expect(JSON.stringify(await shell('cat got'))).not.toContain('of root')
  },
)

test('what git notes in its index while a command only looks is dropped without a question (PERM-10)', async () => {
  const policy: Policy = {
    rules: [{ effect: 'allow', tools: ['code.run_shell'], commands: ['git *', 'touch *'] }],
  }
  const { project, asked, shell } = await openHeld({ policy, answer: { decision: 'allow_once' } })
  await shell('git init -q inner && mv inner/.git tracked')
  renameSync(join(project, 'tracked'), join(project, '.git'))
  await shell('git add a.txt')
  await shell('touch a.txt')
  const index = readFileSync(join(project, '.git/index'), 'hex')
  const before = asked.length
  expect(await shell('git status --short')).toMatchObject({ ok: true })
  expect(asked).toHaveLength(before)
  expect(readFileSync(join(project, '.git/index'), 'hex')).toBe(index)
})
