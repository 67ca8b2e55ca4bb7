import { spawnSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, onTestFinished, test } from 'vitest'
import type { Store } from '../../contract/store.ts'
import { sampleBegin, sampleEnd } from '../../testing/store-checks/sample-records.ts'
import { openSqliteStore } from './open-sqlite-store.ts'

async function openStore(busyTimeoutMs = 100): Promise<{ store: Store; other: DatabaseSync; path: string }> {
  const directory = await mkdtemp(join(tmpdir(), 'handrail-failures-'))
  const path = join(directory, 'store.db')
  const store = await openSqliteStore({ path, busyTimeoutMs })
  const other = new DatabaseSync(path)
  onTestFinished(async () => {
    if (other.isOpen) other.close()
    await store.close()
    await rm(directory, { recursive: true })
  })
  return { store, other, path }
}

function calls(store: Store): string[] {
  return [...store.records({})].map(({ call }) => call)
}

const storeFailed = { code: 'PROVIDER.UNAVAILABLE', reason: 'store_failed' }

test('rejects only the append that the database refuses, and writes its neighbours', async () => {
  const { store, other } = await openStore()
  other.exec(`CREATE TRIGGER refuse BEFORE INSERT ON records WHEN new.session = 'bad'
    BEGIN SELECT RAISE(ABORT, 'no such session'); END`)
  const outcomes = await Promise.allSettled([
    store.append([sampleBegin('a')]),
    store.append([sampleBegin('b'), sampleBegin('c', { session: 'bad' })]),
    store.append([sampleBegin('d')]),
  ])
  expect(outcomes).toMatchObject([
    { status: 'fulfilled' },
    { status: 'rejected', reason: storeFailed },
    { status: 'fulfilled' },
  ])
  expect(calls(store)).toEqual(['a', 'd'])
  expect(store.head('local')?.sequence).toBe(2)
})

test('rejects a whole group while another process holds the file, and goes on afterwards', async () => {
  const { store, other } = await openStore()
  await store.append([sampleBegin('a')])
  other.exec('BEGIN IMMEDIATE')
  const outcomes = await Promise.allSettled([
    store.append([sampleBegin('b')]),
    store.append([sampleBegin('c')]),
  ])
  expect(outcomes).toMatchObject([
    { status: 'rejected', reason: storeFailed },
    { status: 'rejected', reason: { message: expect.stringContaining('another process') } },
  ])
  other.exec('ROLLBACK')
  await store.append([sampleBegin('d')])
  expect(calls(store)).toEqual(['a', 'd'])
})

test('waits in vain for another process only once, and says so until the file is free', async () => {
  const { store, other } = await openStore(1_000)
  expect(store.trouble).toBeUndefined()
  other.exec('BEGIN IMMEDIATE')
  // Each would wait a second, and nothing else could happen in this process meanwhile.
  for (let call = 0; call < 100; call++)
    await expect(store.append([sampleBegin(`a${call}`)])).rejects.toMatchObject(storeFailed)
  expect(store.trouble).toContain('another process holds it')
  other.exec('ROLLBACK')
  await expect.poll(() => store.trouble).toBeUndefined()
  await store.append([sampleBegin('b')])
  expect(calls(store)).toEqual(['b'])
})

test.skipIf(process.platform !== 'linux')(
  'rejects while the disk takes nothing, and goes on afterwards',
  async () => {
    const { path, store, other } = await openStore()
    other.close()
    const urls = ['open-sqlite-store.ts', '../../testing/store-checks/sample-records.ts'].map(
      (file) => new URL(file, import.meta.url).href,
    )
    // A limit on the size of files fails like a full disk, and can be lifted again.
    const program = `
    import { spawnSync } from 'node:child_process'
    const [{ openSqliteStore }, { sampleBegin }] = await Promise.all(${JSON.stringify(urls)}.map((url) => import(url)))
    process.on('SIGXFSZ', () => {})
    const limit = (bytes) => spawnSync('prlimit', ['--pid', String(process.pid), '--fsize=' + bytes + ':unlimited'])
    const store = await openSqliteStore({ path: ${JSON.stringify(path)} })
    await store.append([sampleBegin('before', { writer: store.writer })])
    if (limit(100_000).status !== 0) throw new Error('prlimit does not work')
    const large = { ...sampleBegin('large', { writer: store.writer }), body: 'x'.repeat(200_000) }
    await store.append([large]).then(() => console.log('written'), (error) => console.log(error.reason, error.message))
    limit('unlimited')
    await store.append([sampleBegin('after', { writer: store.writer })])
    await store.close()`
    const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
      encoding: 'utf8',
    })
    expect(stderr).toBe('')
    expect(stdout).toMatch(/^store_failed .*disk/)
    expect(calls(store)).toEqual(['before', 'after'])
  },
)

test('frees the key of a call that could not begin (CALL-4)', async () => {
  const { store, other } = await openStore()
  const use = { tenant: 'local', tool: 't', key: 'k', inputDigest: 'i', call: 'a', at: 0, windowMs: 10 }
  expect(store.claimKey(use)).toEqual({ state: 'claimed' })
  other.exec(`CREATE TRIGGER refuse BEFORE INSERT ON records BEGIN SELECT RAISE(ABORT, 'no'); END`)
  await expect(store.append([sampleBegin('a')])).rejects.toMatchObject(storeFailed)
  other.exec('DROP TRIGGER refuse')
  await store.append([sampleBegin('a'), sampleEnd('a', { outcome: 'failed' })])
  expect(store.claimKey({ ...use, call: 'b' })).toEqual({ state: 'claimed' })
  expect(store.claimKey({ ...use, call: 'c' })).toEqual({ state: 'running', call: 'b' })
})

test('tells of a store that was closed when it is read', async () => {
  const { store } = await openStore()
  await store.close()
  expect(() => [...store.records({})]).toThrow(expect.objectContaining(storeFailed))
  expect(() => store.orphans()).toThrow(expect.objectContaining(storeFailed))
})
