import type * as fs from 'node:fs'
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { DocumentChange } from '../../contract/documents.ts'
import { sampleBegin, sampleEnd } from '../../testing/store-checks/sample-records.ts'
import { createLogSync } from './log-sync.ts'
import { openSqliteStore } from './open-sqlite-store.ts'

/** What the disk waits for before it takes something, how often it was asked to, and how long it makes this process wait. */
const disk = vi.hoisted(() => ({
  held: [] as (() => void)[],
  holds: false,
  fails: false,
  syncs: 0,
  inPlace: 0,
  takesMs: 0,
}))

vi.mock('node:fs', async (original: () => Promise<typeof fs>) => {
  const real = await original()
  const fdatasync = (descriptor: number, done: (error: NodeJS.ErrnoException | null) => void): void => {
    disk.syncs++
    const issue = Object.assign(new Error('EIO: i/o error, fdatasync'), { code: 'EIO' })
    const sync = () => (disk.fails ? done(issue) : real.fdatasync(descriptor, done))
    if (disk.holds) disk.held.push(sync)
    else sync()
  }
  const fdatasyncSync = (descriptor: number): void => {
    disk.inPlace++
    const now = performance.now() + disk.takesMs
    vi.spyOn(performance, 'now').mockReturnValue(now)
    if (disk.fails) throw Object.assign(new Error('EIO: i/o error, fdatasync'), { code: 'EIO' })
    real.fdatasyncSync(descriptor)
  }
  return { ...real, fdatasync, fdatasyncSync }
})

function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'handrail-sync-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return folder
}

async function openStore() {
  Object.assign(disk, { held: [], holds: false, fails: false, syncs: 0, inPlace: 0, takesMs: 0 })
  const path = join(makeFolder(), 'store.db')
  const store = await openSqliteStore({ path })
  onTestFinished(() => store.close())
  return { store, path }
}

const turns = async (count: number): Promise<void> => {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve))
}

test('an append is answered once the disk has it, and what comes meanwhile goes to the disk together', async () => {
  const { store } = await openStore()
  await store.append([sampleBegin('a')])
  disk.holds = true
  const answered: string[] = []
  const append = (call: string) =>
    Promise.resolve(store.append([sampleBegin(call)])).then(() => answered.push(call))
  const first = append('b')
  await turns(3)
  const others = [append('c'), append('d')]
  await turns(3)
  const nothing = Promise.resolve(store.append([])).then(() => answered.push('nothing'))
  await turns(3)
  expect([answered, disk.held.length, disk.syncs]).toEqual([[], 1, 2])
  disk.held.shift()?.()
  await first
  await turns(3)
  expect([answered, disk.held.length, disk.syncs]).toEqual([['b'], 1, 3])
  disk.held.shift()?.()
  await Promise.all([...others, nothing])
  expect([answered, disk.syncs]).toEqual([['b', 'c', 'd', 'nothing'], 3])
})

/** Calls one at a time, on a disk that needs no time. */
async function openTrusted(calls: number) {
  vi.spyOn(performance, 'now').mockReturnValue(0)
  onTestFinished(() => void vi.restoreAllMocks())
  const opened = await openStore()
  const { store } = opened
  const begin = (call: string) => store.append([sampleBegin(call, { writer: store.writer })])
  const end = (call: string) => store.append([sampleEnd(call)])
  const callOnce = async (call: string): Promise<void> => {
    await begin(call)
    await end(call)
  }
  for (let call = 0; call < calls; call++) await callOnce(`trusted ${call}`)
  return { begin, end, callOnce }
}

test('a call at work alone waits in place for a disk that was quick, and behind the loop after one slow sync', async () => {
  const { callOnce } = await openTrusted(8)
  expect([disk.syncs, disk.inPlace]).toEqual([16, 0])
  await callOnce('a')
  expect([disk.syncs, disk.inPlace]).toEqual([16, 2])
  disk.takesMs = 1
  await callOnce('b')
  await callOnce('c')
  expect([disk.syncs, disk.inPlace]).toEqual([19, 3])
})

test('while several calls are at work, the disk is waited for behind the loop, however quick it is', async () => {
  const { begin, end, callOnce } = await openTrusted(8)
  await begin('a')
  expect([disk.syncs, disk.inPlace]).toEqual([16, 1])
  await callOnce('b')
  // The end of the last one finds none beside it.
  await end('a')
  expect([disk.syncs, disk.inPlace]).toEqual([18, 2])
  await Promise.all([begin('c'), begin('d')])
  expect([disk.syncs, disk.inPlace]).toEqual([19, 2])
})

test('what was appended before a store is closed is on the disk then', async () => {
  const { store } = await openStore()
  await store.append([sampleBegin('a')])
  disk.holds = true
  const said: string[] = []
  const appended = Promise.resolve(store.append([sampleEnd('a')])).then(() => said.push('appended'))
  await turns(3)
  const late = Promise.resolve(store.append([sampleBegin('b')])).then(() => said.push('late'))
  const closed = store.close().then(() => said.push('closed'))
  await turns(3)
  expect(said).toEqual([])
  disk.holds = false
  disk.held.shift()?.()
  await Promise.all([appended, late, closed])
  expect(said).toEqual(['appended', 'late', 'closed'])
})

const step = (id: string): DocumentChange => ({ tenant: 'local', kind: 'step', group: 't', id, value: id })

test('what is answered early is there for every process at once, and on the disk with what is appended next', async () => {
  const { store, path } = await openStore()
  const other = await openSqliteStore({ path })
  onTestFinished(() => other.close())
  await store.append([sampleBegin('a')])
  const before = disk.syncs
  disk.holds = true
  await store.append([], { documents: [step('a')], early: true })
  expect(other.documents({ tenant: 'local', kind: 'step' })).toHaveLength(1)
  expect(disk.syncs).toBe(before)
  const said: string[] = []
  const ended = Promise.resolve(store.append([sampleEnd('a')])).then(() => said.push('ended'))
  await turns(3)
  // Also while the disk is busy; and a caller that appends nothing waits for it.
  await store.append([], { documents: [step('b')], early: true })
  const nothing = Promise.resolve(store.append([])).then(() => said.push('nothing'))
  await turns(3)
  expect([said, disk.held.length, disk.syncs]).toEqual([[], 1, before + 1])
  disk.held.shift()?.()
  await ended
  await turns(3)
  expect([said, disk.held.length, disk.syncs]).toEqual([['ended'], 1, before + 2])
  disk.holds = false
  disk.held.shift()?.()
  await nothing
})

test('what was answered early is on the disk when the store is closed, and records are never answered early', async () => {
  const { store } = await openStore()
  await store.append([], { documents: [step('a')] })
  disk.holds = true
  const said: string[] = []
  const begun = Promise.resolve(store.append([sampleBegin('a')], { early: true })).then(() =>
    said.push('begun'),
  )
  await turns(3)
  expect(said).toEqual([])
  disk.held.shift()?.()
  await begun
  await store.append([], { documents: [step('b')], early: true })
  const closed = store.close().then(() => said.push('closed'))
  await turns(3)
  expect([said, disk.held.length]).toEqual([['begun'], 1])
  disk.holds = false
  disk.held.shift()?.()
  await closed
})

test('after a sync that failed, a store takes nothing more, and says why', async () => {
  const { store, path } = await openStore()
  await store.append([sampleBegin('a')])
  disk.fails = true
  const failure = {
    code: 'PROVIDER.UNAVAILABLE',
    reason: 'store_failed',
    message: expect.stringMatching(/disk failed .*EIO.*start Handrail again/) as string,
  }
  await expect(store.append([sampleEnd('a')])).rejects.toMatchObject(failure)
  disk.fails = false
  await expect(store.append([sampleBegin('b')])).rejects.toMatchObject(failure)
  expect(() => store.reserve({ tenant: 'local', call: 'b', items: [], at: 0, leaseMs: 1 })).toThrow(
    expect.objectContaining(failure),
  )
  await store.close()
  const again = await openSqliteStore({ path })
  onTestFinished(() => again.close())
  await again.append([sampleBegin('c')])
  expect([...again.records({})].map(({ call }) => call)).not.toContain('b')
})

test('a sync in place that fails loses what it was for, and the store takes nothing more', async () => {
  const { begin } = await openTrusted(8)
  disk.fails = true
  await expect(begin('a')).rejects.toMatchObject({ reason: 'store_failed' })
  disk.fails = false
  expect(disk.inPlace).toBe(1)
  await expect(begin('b')).rejects.toMatchObject({ reason: 'store_failed' })
})

test('the key of a call whose begin the disk did not take is free, not taken by a call that runs (CALL-4)', async () => {
  const { store } = await openStore()
  const use = { tenant: 'local', tool: 't', key: 'k', inputDigest: 'i', call: 'a', at: 0, windowMs: 10 }
  expect(store.claimKey(use)).toEqual({ state: 'claimed' })
  disk.fails = true
  await expect(store.append([sampleBegin('a')])).rejects.toMatchObject({ reason: 'store_failed' })
  expect(store.findKey({ ...use, call: 'b' })).toBeUndefined()
})

test('a store that is closed twice is closed when both say so', async () => {
  const { store } = await openStore()
  disk.holds = true
  const appended = store.append([sampleBegin('a')])
  await turns(3)
  const said: string[] = []
  const closed = [1, 2].map(() => store.close().then(() => said.push('closed')))
  await turns(3)
  expect(said).toEqual([])
  disk.holds = false
  disk.held.shift()?.()
  await Promise.all([appended, ...closed])
})

test('a log that is not a file that can be synced is told of', async () => {
  const path = join(makeFolder(), 'store.db')
  symlinkSync('/dev/null', `${path}-wal`)
  const log = createLogSync(path)
  onTestFinished(() => log.close())
  log.check()
  await expect(log.sync(false)).rejects.toMatchObject({ reason: 'store_failed' })
  expect(() => log.check()).toThrow(/EINVAL/)
  expect(() => log.syncNow()).toThrow(/EINVAL/)
})
