import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { keepOpen } from '../../support/at-end.ts'
import { makeFolder } from '../../support/project.ts'
import { atOpenEntrances, type Entrance } from '../../support/sandbox-entrances.ts'

const canary = 'canary-of-the-host-8842\n'

/** Names beside a file that an editor or a tool might write without looking, planted as links to the canary. */
const guessable = [
  'a.txt.tmp',
  'a.txt~',
  '.a.txt.swp',
  'a.txt.bak',
  'a.txt.new',
  '.a.txt.handrail',
  '.handrail-0.tmp',
  '.handrail.tmp',
  'response.md',
  '.handrail/worktrees',
]

/** Diffs of `a.txt`, `a` and `b` being its old and its new name, and what they fail with. */
const diffs: readonly (readonly [id: string, what: string, reason: string, path: string, diff: string])[] = [
  ['FS-71', 'a deletion', 'patch_apply_failed', 'a.txt', '--- a/a.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n'],
  [
    'FS-71',
    'a deletion of a protected file',
    'protected_path',
    '.npmrc',
    '--- a/.npmrc\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n',
  ],
  [
    'FS-71',
    'a deletion by its mode',
    'patch_apply_failed',
    'a.txt',
    'diff --git a/a.txt b/a.txt\ndeleted file mode 100644\n--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+two\n',
  ],
  [
    'FS-71',
    'a change of a protected file',
    'protected_path',
    '.git/hooks/pre-commit',
    '--- /dev/null\n+++ b/.git/hooks/pre-commit\n@@ -0,0 +1 @@\n+evil\n',
  ],
  [
    'FS-72',
    'a rename to outside',
    'patch_',
    'a.txt',
    'diff --git a/a.txt b/../b.txt\nsimilarity index 90%\nrename from a.txt\nrename to ../b.txt\n--- a/a.txt\n+++ b/../b.txt\n@@ -1 +1 @@\n-one\n+two\n',
  ],
  [
    'FS-72',
    'a copy to outside',
    'patch_',
    'a.txt',
    'diff --git a/a.txt b/a.txt\ncopy from a.txt\ncopy to {OUT}/b.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+two\n',
  ],
  [
    'FS-72',
    'another file outside',
    'patch_path_mismatch',
    'a.txt',
    '--- a/a.txt\n+++ {OUT}/canary.txt\n@@ -1 +1 @@\n-one\n+two\n',
  ],
  [
    'FS-72',
    'another file by its way up',
    'patch_path_mismatch',
    'a.txt',
    '--- a/../../a.txt\n+++ b/../../a.txt\n@@ -1 +1 @@\n-one\n+two\n',
  ],
  [
    'FS-72',
    'two files',
    'patch_',
    'a.txt',
    '--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+two\n--- a/.npmrc\n+++ b/.npmrc\n@@ -1 +1 @@\n-one\n+two\n',
  ],
  [
    'FS-72',
    'a file outside',
    'write_outside_allowed_roots',
    '{OUT}/canary.txt',
    '--- a/canary.txt\n+++ b/canary.txt\n@@ -1 +1 @@\n-canary-of-the-host-8842\n+two\n',
  ],
  ...['120000', '100755', '104755', '160000', '100600'].map(
    (mode) =>
      [
        'FS-73',
        `a new mode ${mode}`,
        'patch_',
        'a.txt',
        `diff --git a/a.txt b/a.txt\nold mode 100644\nnew mode ${mode}\n--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+two\n`,
      ] as const,
  ),
  [
    'FS-73',
    'a new link',
    'patch_',
    'link',
    'diff --git a/link b/link\nnew file mode 120000\n--- /dev/null\n+++ b/link\n@@ -0,0 +1 @@\n+{OUT}/canary.txt\n\\ No newline at end of file\n',
  ],
  [
    'FS-74',
    'counts that it does not have',
    'patch_',
    'a.txt',
    '--- a/a.txt\n+++ b/a.txt\n@@ -1,99999999 +1,99999999 @@\n-one\n+two\n',
  ],
  [
    'FS-74',
    'a number without end',
    'patch_',
    'a.txt',
    `--- a/a.txt\n+++ b/a.txt\n@@ -1,${'9'.repeat(400)} +1 @@\n-one\n+two\n`,
  ],
  ['FS-74', 'a hunk without end', 'patch_', 'a.txt', '--- a/a.txt\n+++ b/a.txt\n@@ -1 +1\n-one\n+two\n'],
  [
    'FS-74',
    'bytes of git',
    'patch_',
    'a.txt',
    'diff --git a/a.txt b/a.txt\nGIT binary patch\nliteral 3\nKcmYdHU|?Wi00030\n',
  ],
]

atOpenEntrances(
  { files: { 'a.txt': 'one\n', '.npmrc': 'one\n', 'set-id.sh': 'one\n', 'd/in.txt': 'one\n' } },
  (at) => {
    const place = keepOpen(() => plant(at()))

    test.each(diffs)('%s a diff with %s is refused with %s', async (...[, , reason, path, diff]) => {
      const { fill, before, now } = place()
      const input = { path: fill(path), unified_diff: fill(diff), create_if_missing: true }
      const answer = await at().call('code.edit_file', input)
      expect({ ok: answer.ok, reason: answer.reason }).toEqual({
        ok: false,
        reason: expect.stringMatching(`^${reason}|^invalid_input$`),
      })
      expect(now()).toEqual(before)
    })

    test('FS-72 a diff of this file alone applies', async () => {
      const good = (from: string, to: string) => ({
        path: 'd/in.txt',
        unified_diff: `diff --git a/d/in.txt b/d/in.txt\nindex 1..2 100644\n--- a/d/in.txt\n+++ b/d/in.txt\n@@ -1 +1 @@\n-${from}\n+${to}\n`,
      })
      expect(await at().call('code.edit_file', good('one', 'two'))).toMatchObject({ ok: true })
      expect(readFileSync(join(at().project, 'd/in.txt'), 'utf8')).toBe('two\n')
    })

    test('FS-75 a large change has its preview and is written', async () => {
      const lines = (seed: number) =>
        Array.from({ length: 3_000 }, (_, line) => `${(line * seed) % 2_999}`).join('\n')
      const write = (content: string) =>
        at().call('code.write_file', { path: 'large.txt', content, overwrite: true })
      expect(await write(lines(7))).toMatchObject({ ok: true })
      expect(await write(lines(1_009))).toMatchObject({ ok: true })
    })

    test('FS-39 no bit of a mode lets a file that is written run as somebody else', async () => {
      const { project, call } = at()
      const path = join(project, 'set-id.sh')
      for (const mode of [0o4755, 0o2755, 0o6755, 0o1755]) {
        chmodSync(path, mode)
        const input = { path: 'set-id.sh', content: `${mode}`, overwrite: true }
        expect(await call('code.write_file', input)).toMatchObject({ ok: true })
        expect([mode, statSync(path).mode & 0o7777]).toEqual([mode, 0o755])
      }
      for (const more of [{ mode: 0o4755 }, { mode: '4755' }, { permissions: '4755' }])
        expect(await call('code.write_file', { path: 'b.txt', content: 'x', ...more })).toMatchObject({
          ok: false,
          reason: 'invalid_input',
        })
      await call('code.write_file', { path: 'new.sh', content: '#!/bin/sh\n' })
      expect(statSync(join(project, 'new.sh')).mode & 0o7111).toBe(0)
    })

    test('FS-40 no name that can be guessed is written through', async () => {
      const { project, call } = at()
      const { before, now } = place()
      for (const content of ['two\n', 'one\n'])
        expect(await call('code.write_file', { path: 'a.txt', content, overwrite: true })).toMatchObject({
          ok: true,
        })
      for (const name of guessable) {
        expect([name, lstatSync(join(project, name)).isSymbolicLink()]).toEqual([name, true])
        const input = { path: name, content: 'x', overwrite: true }
        expect([name, (await call('code.write_file', input)).reason]).toEqual([
          name,
          'write_outside_allowed_roots',
        ])
      }
      expect(now()).toEqual(before)
      expect(
        readdirSync(project)
          .filter((name) => name.endsWith('.tmp'))
          .toSorted(),
      ).toEqual(guessable.filter((name) => name.endsWith('.tmp')).toSorted())
    })

    test('FS-40 what is planted where temporary files lie is not what a command finds there', async () => {
      const { fill, before, now } = place()
      const planted = join(tmpdir(), `response-${process.pid}.md`)
      symlinkSync(fill('{OUT}/canary.txt'), planted)
      onTestFinished(() => rmSync(planted))
      const { seen } = await at().run('sh', '-c', `cat ${planted}; echo evil > ${planted}; ls -a /tmp`)
      expect(seen).not.toContain(canary.trim())
      expect(now()).toEqual(before)
    })

    test('FS-37 a copy takes a link as a link, and never what lies behind it', async () => {
      const { project, run } = at()
      const { fill, before, now } = place()
      symlinkSync(fill('{OUT}/canary.txt'), join(project, 'd', 'link'))
      symlinkSync('/etc/passwd', join(project, 'd', 'passwd'))
      const { seen } = await run(
        'sh',
        '-c',
        'cp -r d plain; cp -rL d followed; cp -a d all; tar -chf - d | tar -xf - -C all; ln d/link hard; cat d/link hard followed/link all/d/link; echo evil > d/link; cp a.txt plain/link; touch z; mv z d/link',
      )
      expect(seen).not.toContain(canary.trim())
      expect(lstatSync(join(project, 'plain', 'passwd')).isSymbolicLink()).toBe(true)
      for (const path of ['followed/passwd', 'all/d/passwd'].map((name) => join(project, name)))
        if (existsSync(path)) expect(readFileSync(path, 'utf8')).not.toContain('root')
      expect(now()).toEqual(before)
    })
  },
)

/** Links where a tool might write without looking, and what they point at. */
function plant({ project }: Entrance) {
  const away = makeFolder({ 'canary.txt': canary })
  for (const path of [away, join(away, 'canary.txt')]) chmodSync(path, 0o777)
  const { uid, gid } = statSync(project)
  for (const name of guessable) {
    const path = join(project, name)
    if (name.includes('/')) {
      mkdirSync(join(path, '..'))
      if (process.getuid?.() === 0) chownSync(join(path, '..'), uid, gid)
    }
    symlinkSync(name.includes('/') ? away : join(away, 'canary.txt'), path)
  }
  const look = (folder: string) => readdirSync(folder).toSorted()
  const now = () => ({
    away: look(away),
    canary: readFileSync(join(away, 'canary.txt'), 'utf8'),
    'a.txt': readFileSync(join(project, 'a.txt'), 'utf8'),
    '.npmrc': readFileSync(join(project, '.npmrc'), 'utf8'),
    link: existsSync(join(project, 'link')),
    git: existsSync(join(project, '.git')),
    mode: statSync(join(project, 'a.txt')).mode,
  })
  return { fill: (text: string) => text.replaceAll('{OUT}', away), before: now(), now }
}
