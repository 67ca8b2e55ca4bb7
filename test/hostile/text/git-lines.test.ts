import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { keepOpen } from '../../support/at-end.ts'
import { makeRepository } from '../../support/repository.ts'
import { rounds } from '../../support/rounds.ts'
import { atOpenEntrances, type Entrance, type EntranceOptions } from '../../support/sandbox-entrances.ts'

/** What a person allows who wants git to look, and to get what is elsewhere. */
const allowed = [
  'git status *',
  'git diff *',
  'git log *',
  'git show *',
  'git grep *',
  'git blame *',
  'git branch *',
  'git ls-remote *',
  'git fetch *',
  'git pull *',
  'git push *',
  'git clone *',
  'git init *',
  'git archive *',
  'git rebase *',
  'git bisect *',
  'git submodule *',
  'git difftool *',
  'git cat-file *',
  'git --no-pager *',
  'git -C . *',
]

/** Options by which git runs a program or writes elsewhere, `{P}` being a program of the attacker. */
const reaching: readonly (readonly [id: string, ...lines: readonly string[]])[] = [
  [
    'GT-02',
    'git grep -O{P} x',
    'git grep --open-files-in-pager={P} x',
    'git grep --open={P} x',
    'git grep --op={P} x',
    'git grep -nO{P} x',
    'git grep -O {P}',
  ],
  [
    'GT-03',
    'git ls-remote --upload-pack={P} .',
    'git ls-remote --upload-pa={P} .',
    'git ls-remote --exec={P} .',
    'git fetch --upload-pack={P} .',
    'git fetch --upload-pa={P} .',
    'git fetch --upload-pack {P} .',
    'git pull --upload-pack={P} .',
    'git pull --upload={P} .',
    'git push --receive-pack={P} .',
    'git push --exec={P} .',
  ],
  [
    'GT-04',
    'git clone -u {P} . x',
    'git clone -u{P} . x',
    'git clone -qu{P} . x',
    'git clone --upload-pack={P} . x',
    'git clone --upload {P} . x',
    'git clone --template={P} . x',
    'git clone --templ={P} . x',
    'git clone -c core.fsmonitor={P} . x',
    'git clone --config core.sshCommand={P} . x',
    'git clone --conf=alias.x={P} . x',
    'git init --template={P}',
    'git init --templ={P}',
    'git archive --remote=. --exec={P} HEAD',
    'git archive --exec={P} --remote=. HEAD',
    'git archive --rem=. HEAD',
    'git archive -o {P} HEAD',
    'git archive --output={P} HEAD',
  ],
  [
    'GT-05',
    'git -c alias.x=!{P} x',
    'git -c core.pager={P} log',
    'git -ccore.pager={P} log',
    'git --config-env=core.fsmonitor=EV status',
    'git --exec-path={P} log',
    'git -p -c core.pager={P} log',
    'git --no-pager -c diff.external={P} diff',
    'git --git-dir={P} log',
    'git --work-tree=/ status',
    'git --namespace=x log',
    'git --paginate log',
    'git --literal-pathspecs -c core.hooksPath={P} status',
    'git --no-pager grep -O{P} x',
    'git -C . grep -O{P} x',
    'git -C . -c alias.x=!{P} x',
    'git --no-pager --exec-path={P} log',
  ],
  [
    'GT-07',
    'git rebase --root --exec {P}',
    'git rebase --root --exe={P}',
    'git rebase -x {P} HEAD~1',
    'git rebase -x{P} HEAD~1',
    'git rebase -ix{P} HEAD~1',
    'git bisect run {P}',
    'git submodule foreach {P}',
    'git submodule --quiet foreach {P}',
    'git submodule foreach --recursive {P}',
    'git difftool -x {P}',
    'git difftool --extcmd={P}',
    'git difftool --extc={P}',
    'git difftool -yx{P}',
  ],
  [
    'GT-08',
    'git diff --output={P} HEAD',
    'git diff --outp={P}',
    'git log --output={P}',
    'git log -p --ou={P}',
    'git show --output={P}',
  ],
  [
    'GT-14',
    'git diff --ext-diff',
    'git log -p --ext-diff',
    'git show --ext-d',
    'git grep --textconv x',
    'git cat-file --textconv HEAD:a.txt',
    'git cat-file --filters HEAD:a.txt',
  ],
  ['GT-10', 'git -C /etc log', 'git -C .. log', 'git --git-dir=/etc/.git log'],
  [
    'GT-05',
    'GIT_PAGER={P} git log',
    'GIT_EXTERNAL_DIFF={P} git diff',
    'GIT_SSH_COMMAND={P} git fetch',
    'GIT_CONFIG_COUNT=1 git status',
    'GIT_DIR=/x git status',
    'GIT_EXEC_PATH={P} git log',
    'env GIT_PAGER={P} git log',
    'git log; {P}',
    'git log | {P}',
    'git log $(echo --output=x)',
    'git diff $X',
    'git diff --ou*',
  ],
]

/** Lines that these rules cover. */
const covered: readonly (readonly [id: string, ...lines: readonly string[]])[] = [
  ['GT-02', 'git grep -n one', 'git grep -e one', 'git grep --or -e one -e two'],
  [
    'GT-05',
    'git status --short',
    'git branch -v',
    'git log --oneline -1',
    'git log -c -1',
    'git log -p --no-ext-diff',
    'git show --stat HEAD',
    'git diff --no-textconv HEAD',
  ],
  [
    'GT-08',
    'git diff --stat HEAD',
    'git log --no-color',
    'git blame a.txt',
    'nice git log -1',
    'git --no-pager log -1',
    'git -C . grep -n one',
    'git cat-file -p HEAD:a.txt',
    'git clone -q . copy',
    'git fetch -q --update-head-ok . HEAD',
    'git ls-remote --exit-code .',
  ],
]

const policy = {
  rules: [{ effect: 'allow' as const, tools: ['code.run_command', 'code.run_shell'], commands: allowed }],
}

const reachingLines = reaching.flatMap(([id, ...each]) => each.map((line) => [id, line] as const))

type Planted = ReturnType<typeof plant>

/** Each way to send the line asks the person, whose no leaves nothing of it. */
async function expectNotCovered(at: Entrance, { mark }: Planted, template: string): Promise<void> {
  const line = template.replaceAll('{P}', './p')
  const answers = [await at.call('code.run_shell', { command: line })]
  if (/^[\w/. =:!,@~-]+$/.test(line) && !/^[A-Z_]+=/.test(line))
    answers.push(await at.run(...line.split(' ')))
  for (const { ok, code } of answers)
    expect({ ok, code }).toEqual({ ok: false, code: 'POLICY.APPROVAL_DENIED' })
  expect(existsSync(mark)).toBe(false)
}

const denying: EntranceOptions = {
  files: { 'a.txt': 'one\n' },
  configuration: { shell: true },
  policy,
  says: 'deny',
}
/** The person is asked before a line runs, so that none of them has run. */
const asking: EntranceOptions = {
  ...denying,
  configuration: { shell: true, commands: { review: 'never' } },
}

atOpenEntrances(asking, (at) => {
  const place = keepOpen(() => plant(at()))

  test.each(reachingLines)('%s %j is not covered by the rules that let git look', async (_id, template) => {
    await expectNotCovered(at(), place(), template)
  })
})

atOpenEntrances(denying, (at) => {
  const place = keepOpen(() => plant(at()))

  const some = reachingLines.filter((_, index) => index % rounds({ usual: 15, long: 1 }) === 0)
  test.each(some)(
    '%s %j is not covered by the rules that let git look when it has run held back',
    async (_id, template) => {
      await expectNotCovered(at(), place(), template)
    },
  )

  test.each(covered.flatMap(([id, ...each]) => each.map((line) => [id, line] as const)))(
    '%s %j is covered and runs',
    async (_id, line) => {
      const { ok, text } = await at().call('code.run_shell', { command: line })
      expect({ ok, text }).toMatchObject({ ok: true })
    },
  )
})

/** A repository with one commit, and beside it a program of the attacker. */
function plant({ project }: Entrance) {
  makeRepository(project)
  const mark = join(project, 'mark')
  writeFileSync(join(project, 'p'), `#!/bin/sh\ntouch ${mark}\n`, { mode: 0o755 })
  return { mark }
}
