import assert from 'node:assert/strict'
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { enterProject, refusedWith, type SandboxChecks } from './sandbox-under-test.ts'

const bytes = (text: string) => new TextEncoder().encode(text)

export const fileChecks: SandboxChecks = {
  'reads what it wrote, by relative and by absolute path': async (subject) => {
    const { files } = enterProject(subject)
    await files.write('sub/a.txt', bytes('one'), { createDirs: true, expect: 'absent' })
    for (const path of ['sub/a.txt', join(subject.project, 'sub/a.txt')]) {
      const read = await files.read(path)
      assert.equal(new TextDecoder().decode(read.bytes), 'one')
    }
    const { entries } = await files.list('.', { recursive: true, limit: 10 })
    assert.deepEqual(
      entries.map(({ path }) => path),
      ['sub', 'sub/a.txt'],
    )
  },

  'replaces a file only as it was expected': async (subject) => {
    const { files } = enterProject(subject)
    await files.write('a.txt', bytes('one'), { createDirs: false, expect: 'absent' })
    const again = files.write('a.txt', bytes('two'), { createDirs: false, expect: 'absent' })
    await assert.rejects(again, refusedWith('path_conflict'))
    const stale = files.write('a.txt', bytes('two'), { createDirs: false, expect: { digest: 'sha256:0' } })
    await assert.rejects(stale, refusedWith('stale_preview'))
    assert.equal(new TextDecoder().decode((await files.read('a.txt')).bytes), 'one')
  },

  'reaches nothing outside of its roots, by path or by link': async (subject) => {
    const { files } = enterProject(subject)
    symlinkSync(subject.outside, join(subject.project, 'link'))
    for (const path of ['../outside/canary.txt', join(subject.outside, 'canary.txt'), 'link/canary.txt'])
      await assert.rejects(files.read(path), refusedWith('SANDBOX.CAPABILITY_BLOCKED'), path)
    const made = files.write('link/new.txt', bytes('x'), { createDirs: false, expect: 'absent' })
    await assert.rejects(made, refusedWith('SANDBOX.CAPABILITY_BLOCKED'))
  },

  'writes nothing for a call that may only read, and nothing that is protected': async (subject) => {
    const reading = enterProject(subject, {}, 'read').files
    const write = (files: typeof reading, path: string) =>
      files.write(path, bytes('x'), { createDirs: true, expect: 'absent' })
    await assert.rejects(write(reading, 'a.txt'), refusedWith('SANDBOX.CAPABILITY_BLOCKED'))
    const { files } = enterProject(subject)
    await assert.rejects(write(files, '.git/hooks/pre-commit'), refusedWith('SANDBOX.CAPABILITY_BLOCKED'))
    const { entries } = await files.list('.', { recursive: true, limit: 10 })
    assert.deepEqual(entries, [])
  },

  'finds lines, and leaves out what is excluded': async (subject) => {
    const { files, search } = enterProject(subject)
    for (const path of ['a.txt', 'b.txt', '.env'])
      await files.write(path, bytes(`first\nneedle in ${path}\n`), { createDirs: false, expect: 'absent' })
    const { hits } = await search.find({
      pattern: 'needle',
      path: '.',
      mode: 'content',
      limit: 10,
      exclude: ['**/.env', 'b.*'],
    })
    assert.deepEqual(
      hits.map(({ path, line, text }) => [path, line, text]),
      [['a.txt', 2, 'needle in a.txt']],
    )
  },
}
