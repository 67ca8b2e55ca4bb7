import { execFileSync, spawnSync } from 'node:child_process'
import {
  closeSync,
  existsSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  statSync,
  symlinkSync,
  truncateSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { codeTools } from 'handrail'
import { expect, test } from 'vitest'
import { keepOpen } from '../../support/at-end.ts'
import { makeFolder, openRuntime, personSaying } from '../../support/project.ts'
import { atEveryEntrance } from '../../support/sandbox-entrances.ts'
import { memoryHeld } from '../../support/memory-held.ts'

/** Makes a pipe, and a socket whose program was ended without a chance to clear it away. */
function makeSpecial(folder: string): void {
  execFileSync('mkfifo', [join(folder, 'pipe')])
  const script = 'require("net").createServer().listen("socket", () => process.kill(process.pid, "SIGKILL"))'
  spawnSync(process.execPath, ['-e', script], { cwd: folder, stdio: 'ignore' })
}

atEveryEntrance((open) => {
  const at = keepOpen(() => open())

  test('pipes, sockets and devices are refused at once, by every tool and inside folders too (FS-54)', async () => {
    const { project, call, renew } = at()
    renew({ 'd/a.txt': 'a' })
    makeSpecial(join(project, 'd'))
    expect(lstatSync(join(project, 'd/socket')).isSocket()).toBe(true)
    const { uid, gid } = statSync(project)
    for (const name of ['pipe', 'socket']) lchownSync(join(project, 'd', name), uid, gid)
    for (const path of ['d/pipe', 'd/socket'])
      for (const [tool, input] of [
        ['code.read_file', { path }],
        ['code.write_file', { path, content: 'x', overwrite: true }],
        ['code.edit_file', { path, edits: [{ old: 'a', new: 'b' }] }],
        ['code.search', { query: 'a', path }],
        ['code.copy_path', { from: path, to: 'e' }],
        ['code.move_path', { from: path, to: 'e' }],
        ['code.copy_path', { from: 'd/a.txt', to: path, overwrite: true }],
        ['code.delete_path', { path }],
        ['code.copy_path', { from: 'd', to: 'e' }],
        ['code.move_path', { from: 'd', to: 'e' }],
        ['code.delete_path', { path: 'd', recursive: true }],
      ] as const)
        expect([tool, path, await call(tool, input)]).toMatchObject([
          tool,
          path,
          { ok: false, code: 'SANDBOX.CAPABILITY_BLOCKED', reason: 'special_file' },
        ])
    for (const path of ['/dev/zero', '/dev/vda', '/proc/kmsg', '/dev/stdin'])
      expect(await call('code.read_file', { path })).toMatchObject({ reason: 'path_outside_roots' })
    const found = await call('code.search', { query: 'a' })
    expect(found.text).toContain('d/a.txt')
    expect(readdirSync(join(project, 'd')).sort()).toEqual(['a.txt', 'pipe', 'socket'])
  })

  test('a link into a circle ends every walk, and nothing is seen twice (FS-64)', async () => {
    const { project, call, renew } = at()
    renew({ 'd/e/a.txt': 'needle' })
    symlinkSync('..', join(project, 'd/e/loop'))
    symlinkSync('.', join(project, 'd/self'))
    const times = (text: string, word: string) => text.split(word).length - 1
    const listed = await call('code.list_dir', { path: '.', recursive: true })
    expect(times(listed.text, 'a.txt')).toBe(1)
    expect(times((await call('code.glob', { pattern: '**/*.txt' })).text, 'a.txt')).toBe(1)
    expect(times((await call('code.search', { query: 'needle' })).text, 'a.txt')).toBe(1)
    expect((await call('code.copy_path', { from: 'd', to: 'copy' })).ok).toBe(true)
    expect(lstatSync(join(project, 'copy/e/loop')).isSymbolicLink()).toBe(true)
    expect((await call('code.delete_path', { path: 'd', recursive: true })).ok).toBe(true)
    expect(readdirSync(project)).toEqual(['copy'])
  })

  test('a sparse file of 10 GiB takes no memory, whatever is asked of it (FS-55)', async () => {
    const { project, call, renew } = at()
    renew({ big: 'x' })
    truncateSync(join(project, 'big'), 10 * 1024 ** 3)
    const before = memoryHeld()
    for (const [tool, input, reason] of [
      ['code.read_file', { path: 'big' }, 'binary_file'],
      ['code.edit_file', { path: 'big', edits: [{ old: 'x', new: 'y' }] }, 'file_too_large'],
      ['code.write_file', { path: 'big', content: 'y', overwrite: true }, 'file_too_large'],
      ['code.copy_path', { from: 'big', to: 'copy' }, 'file_too_large'],
    ] as const)
      expect([tool, await call(tool, input)]).toMatchObject([tool, { ok: false, reason }])
    expect((await call('code.move_path', { from: 'big', to: 'moved' })).ok).toBe(true)
    expect((await call('code.delete_path', { path: 'moved' })).ok).toBe(true)
    expect(memoryHeld() - before).toBeLessThan(50_000_000)
    expect(readdirSync(project)).toEqual([])
  })
})

test('a folder of more names than are read at once is cut off, and said to be (FS-63)', async () => {
  // In memory, if the machine has such a place: a disk takes ten times as long.
  const project = makeFolder({}, existsSync('/dev/shm') ? '/dev/shm' : tmpdir())
  const many = join(project, 'many')
  mkdirSync(many)
  // A tenth of a million, and some: the same bounds are met as with a whole one.
  for (let i = 0; i < 100_050; i++) closeSync(openSync(join(many, `${i}`), 'w'))
  const runtime = await openRuntime({
    project,
    tools: [codeTools()],
    approve: personSaying('allow_once').approve,
  })
  const session = runtime.session()
  const before = memoryHeld()
  const { data } = await session.call('code.list_dir', { path: 'many', recursive: true, limit: 1_000 })
  expect(data).toMatchObject({ truncated: true })
  expect(JSON.stringify(data).match(/"kind":"file"/g)).toHaveLength(1_000)
  for (const [tool, input] of [
    ['code.copy_path', { from: 'many', to: 'more' }],
    ['code.move_path', { from: 'many', to: 'more' }],
    ['code.delete_path', { path: 'many', recursive: true }],
  ] as const)
    expect([tool, (await session.call(tool, input)).error?.reason]).toEqual([tool, 'too_many_files'])
  expect(memoryHeld() - before).toBeLessThan(100_000_000)
  expect(readdirSync(many).length).toBe(100_050)
})
