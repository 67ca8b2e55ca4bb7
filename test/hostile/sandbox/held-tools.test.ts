import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { toolFile } from '../../support/declared-tools.ts'
import { makeRepository } from '../../support/repository.ts'
import { imageOf } from '../../support/undo.ts'
import { keepOpen } from '../../support/at-end.ts'
import { atEveryEntrance } from '../../support/sandbox-entrances.ts'

/** A declared tool that runs one line of a shell. */
function writing(name: string, line: string): Record<string, unknown> {
  return toolFile({ name, permission: 'write', command: 'sh', args: ['-c', line] })
}

const declared = {
  'write.json': writing('demo.write', 'echo made > made.txt; rm b.txt; echo more >> a.txt'),
  'denied.json': writing('demo.denied', 'mkdir gen; echo x > gen/x; echo x > beside.txt'),
  'look.json': toolFile({
    name: 'demo.look',
    permission: 'readonly',
    command: 'touch',
    args: ['beside.txt'],
  }),
}

atEveryEntrance((open) => {
  const at = keepOpen(() =>
    open({
      files: { 'a.txt': 'one\n', 'b.txt': 'b' },
      configuration: { sandbox: { hold: 'always' } },
      policy: { rules: [{ effect: 'deny', resources: ['handrail:file:{project}/gen/**'] }] },
      declared,
    }),
  )

  test('what a declared tool writes lands when it was judged, or nothing of it (FS-43)', async () => {
    const { project, call, renew } = at()
    renew({ 'a.txt': 'one\n', 'b.txt': 'b' })
    const { ok, text } = await call('demo.write', {})
    expect({ ok, text }).toMatchObject({ ok: true })
    expect(readFileSync(join(project, 'a.txt'), 'utf8')).toBe('one\nmore\n')
    expect([existsSync(join(project, 'made.txt')), existsSync(join(project, 'b.txt'))]).toEqual([true, false])
    const before = imageOf(project)
    expect(await call('demo.denied', {})).toMatchObject({ ok: false, reason: 'rule_denied' })
    expect(await call('demo.look', {})).toMatchObject({ ok: false, reason: 'exit_code' })
    expect(imageOf(project)).toEqual(before)
  })

  test('a worktree is made, worked in and removed where all commands are held back (FS-43, BI-6)', async () => {
    const { project, call, renew, run } = at()
    renew({ 'a.txt': 'one\n' })
    makeRepository(project)
    const inside = '.handrail/worktrees/task'
    const made = await call('code.enter_worktree', { name: 'task' })
    expect(made).toMatchObject({ ok: true })
    expect(await call('demo.write', {})).toMatchObject({ ok: true })
    expect(existsSync(join(project, inside, 'made.txt'))).toBe(false)
    const wrote = await run(
      'sh',
      '-c',
      `cd ${inside} && echo two > a.txt && git commit -qam two && git status --short`,
    )
    expect(wrote).toMatchObject({ ok: true })
    const left = await call('code.exit_worktree', { id: 'task', action: 'remove', discard_changes: true })
    expect(left).toMatchObject({ ok: true })
    expect(existsSync(join(project, inside))).toBe(false)
  })
})
