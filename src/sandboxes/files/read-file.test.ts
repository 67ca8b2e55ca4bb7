import { execFileSync } from 'node:child_process'
import { appendFileSync, openSync, closeSync, readdirSync, truncateSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openTestSandbox, reasonOf } from '../host/open-test-sandbox.fixture.ts'
import { memoryHeld } from '../../../test/support/memory-held.ts'

test('gives bytes and facts of a file (FILE-1)', async () => {
  await using place = openTestSandbox()
  place.put('a.bin', Buffer.from([0, 255, 13, 10]))
  const { bytes, stat } = await place.enter().files.read('a.bin')
  expect([...bytes]).toEqual([0, 255, 13, 10])
  expect(stat).toMatchObject({ kind: 'file', size: 4 })
  expect(stat.mode & ~0o777).toBe(0)
})

test('bounds a file by the bytes read', async () => {
  await using place = openTestSandbox()
  place.put('ten', '0123456789')
  const { files } = place.enter()
  expect((await files.read('ten', { maxBytes: 10 })).bytes.length).toBe(10)
  expect(await reasonOf(files.read('ten', { maxBytes: 9 }))).toBe('file_too_large')
})

test('reads a large file whole', async () => {
  await using place = openTestSandbox()
  const content = Buffer.alloc(3_000_001, 'ab')
  place.put('large', content)
  expect(Buffer.from((await place.enter().files.read('large')).bytes).equals(content)).toBe(true)
})

test.runIf(process.platform === 'linux')(
  'reads a file that says it is empty: special files FS-56',
  async () => {
    await using place = openTestSandbox()
    const { files } = place.enter({ readRoots: ['/proc'] })
    const { bytes, stat } = await files.read(`/proc/${process.pid}/status`)
    expect(stat.size).toBe(0)
    expect(Buffer.from(bytes).toString()).toContain('Name:')
    expect(await reasonOf(files.read(`/proc/${process.pid}/status`, { maxBytes: 20 }))).toBe('file_too_large')
  },
)

test('refuses a sparse file of 10 GiB without taking memory: special files FS-55', async () => {
  await using place = openTestSandbox()
  truncateSync(place.put('sparse', ''), 10 * 1024 ** 3)
  const { files } = place.enter()
  const before = memoryHeld()
  expect(await reasonOf(files.read('sparse'))).toBe('file_too_large')
  let seen = 0
  for await (const piece of files.chunks('sparse')) if ((seen += piece.length) > 50_000_000) break
  expect(memoryHeld() - before).toBeLessThan(200_000_000)
})

test('refuses pipes, sockets and devices at once: special files FS-54', async () => {
  await using place = openTestSandbox()
  execFileSync('mkfifo', [join(place.project, 'pipe')])
  const server = createServer().listen(join(place.project, 'socket'))
  await new Promise((resolve) => server.once('listening', resolve))
  const { files } = place.enter({ readRoots: [place.project, '/dev'] })
  for (const path of ['pipe', 'socket', '/dev/zero', '/dev/null'])
    expect([path, await reasonOf(files.read(path))]).toEqual([path, 'special_file'])
  expect(await reasonOf(files.read('.'))).toBe('not_a_file')
  await new Promise((resolve) => server.close(resolve))
})

test('gives a file piece by piece and closes it when the reader stops', async () => {
  await using place = openTestSandbox()
  place.put('large', Buffer.alloc(400_000, 'x'))
  const { files } = place.enter()
  const sizes: number[] = []
  for await (const piece of files.chunks('large')) sizes.push(piece.length)
  expect(sizes).toEqual([65_536, 262_144, 72_320])

  const before = openDescriptors()
  for await (const piece of files.chunks('large')) if (piece.length > 0) break
  const failing = async () => {
    for await (const piece of files.chunks('large')) throw new Error(`stop at ${piece.length}`)
  }
  await expect(failing()).rejects.toThrow('stop at 65536')
  expect(openDescriptors()).toBe(before)
})

test('leaves no descriptor open, whatever happens', async () => {
  await using place = openTestSandbox()
  place.put('a/b', 'x')
  const { files } = place.enter()
  // The list of unfinished files stays open.
  await files.write('first', Buffer.from('x'), { createDirs: false, expect: 'absent' })
  const before = openDescriptors()
  for (const path of ['a/b', 'a', 'a/nothing', '../outside/canary.txt', 'a/b/c']) {
    await reasonOf(files.read(path, { maxBytes: 0 }))
    await reasonOf(files.stat(path))
    await reasonOf(files.resolve(path, 'write'))
    await reasonOf(files.list(path, { recursive: true, limit: 10 }))
    await reasonOf(files.write(path, Buffer.from('x'), { createDirs: true, expect: 'absent' }))
  }
  expect(openDescriptors()).toBe(before)
})

test('bounds a file that grows while it is read: special files FS-57', async () => {
  await using place = openTestSandbox()
  const path = place.put('log', 'x'.repeat(100_000))
  const { files } = place.enter()
  let seen = 0
  for await (const piece of files.chunks('log')) {
    seen += piece.length
    if (seen < 400_000) appendFileSync(path, 'y'.repeat(100_000))
    expect(seen).toBeLessThan(1_000_000)
  }
  expect(await reasonOf(files.read('log', { maxBytes: 100_000 }))).toBe('file_too_large')
})

function openDescriptors(): number {
  if (process.platform === 'linux') return readdirSync('/proc/self/fd').length
  const next = openSync('/dev/null', 'r')
  closeSync(next)
  return next
}
