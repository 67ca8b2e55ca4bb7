import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { BudgetRequest, ReservationItem, Store } from '../../../contract/store.ts'
import { sampleBegin, sampleEnd } from '../../../testing/store-checks/sample-records.ts'
import { openSqliteStore } from '../open-sqlite-store.ts'
import { createSealedTable, sealedTables } from '../seals/sealed-table.ts'
import { createSealedWrites } from '../seals/sealed-writes.ts'
import { createSealer } from '../seals/sealer.ts'
import { readStoreKey } from '../seals/store-key.ts'

const leaseMs = 60_000

interface Place {
  path: string
  open: () => Promise<Store>
  /** Asks the file itself. */
  ask: (sql: string) => Record<string, unknown>[]
  clock: { now: number }
}

async function makePlace(): Promise<Place> {
  const directory = await mkdtemp(join(tmpdir(), 'handrail-shares-'))
  const path = join(directory, 'store.db')
  const clock = { now: 1_000_000 }
  const opened: Store[] = []
  onTestFinished(async () => {
    for (const store of opened) await store.close()
    await rm(directory, { recursive: true })
  })
  return {
    path,
    clock,
    async open() {
      const store = await openSqliteStore({ path, now: () => clock.now, busyTimeoutMs: 100 })
      opened.push(store)
      return store
    },
    ask(sql) {
      const db = new DatabaseSync(path)
      const rows = db.prepare(sql).all()
      db.close()
      return rows.map((row) => ({ ...row }))
    },
  }
}

function request(call: string, at: number, item: Partial<ReservationItem>): BudgetRequest {
  const units = item.units ?? 1
  const all = { account: 'x', limit: 10, units, least: units, endsAt: Number.POSITIVE_INFINITY, ...item }
  return { call, tenant: 'local', at, leaseMs, items: [all] }
}

async function end(store: Store, call: string): Promise<void> {
  const settle = [{ call, spent: [{ account: 'x', units: 1 }] }]
  await store.append([sampleBegin(call), sampleEnd(call)], { settle })
}

function fakeRenewals(): { pass: () => void } {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  onTestFinished(() => void vi.useRealTimers())
  return { pass: () => void vi.advanceTimersByTime(1000) }
}

test('takes units of a large budget in advance, and of a small one as many as it needs', async () => {
  const { open, clock } = await makePlace()
  const [store, other] = [await open(), await open()]
  store.reserve(request('a', clock.now, { limit: 100_000 }))
  store.reserve(request('b', clock.now, { account: 'small', limit: 1000 }))
  expect(store.balance('x', clock.now)).toEqual({ spent: 0, reserved: 1 })
  expect(other.balance('x', clock.now)).toEqual({ spent: 0, reserved: 65 })
  expect(other.balance('small', clock.now)).toEqual({ spent: 0, reserved: 1 })
})

test('touches the file only once for many calls of a large budget', async () => {
  const { open, ask, clock } = await makePlace()
  const store = await open()
  const item = { limit: 100_000 }
  store.reserve(request('first', clock.now, item))
  const before = ask('SELECT * FROM shares')
  for (let i = 0; i < 64; i++) store.reserve(request(`call ${i}`, clock.now, item))
  expect(ask('SELECT * FROM shares')).toEqual(before)
  store.reserve(request('one more', clock.now, item))
  expect(ask('SELECT held FROM shares')).toEqual([{ held: 66 + 64 }])
})

test('holds less in advance as a budget runs short', async () => {
  const { open, clock } = await makePlace()
  const [store, other] = [await open(), await open()]
  const item = { limit: 100_000 }
  store.reserve(request('a', clock.now, { ...item, units: 98_000 }))
  store.reserve(request('b', clock.now, item))
  expect(other.balance('x', clock.now).reserved).toBe(98_001 + Math.floor(1999 / 64))
  store.reserve(request('c', clock.now, { ...item, units: 1500 }))
  expect(other.balance('x', clock.now).reserved).toBe(99_501)
})

test('gives back what it took in advance once it is not used', async () => {
  const renewals = fakeRenewals()
  const { open, ask, clock } = await makePlace()
  const store = await open()
  const others = vi.getTimerCount()
  store.reserve(request('a', clock.now, { limit: 100_000 }))
  renewals.pass()
  renewals.pass()
  expect(ask('SELECT held FROM shares')).toEqual([{ held: 65 }])
  await end(store, 'a')
  expect(ask('SELECT spent, held FROM shares')).toEqual([{ spent: 1, held: 64 }])
  renewals.pass()
  renewals.pass()
  expect(ask('SELECT spent, held FROM shares')).toEqual([{ spent: 1, held: 0 }])
  // Nothing is held, so nothing is looked at any more.
  expect(vi.getTimerCount()).toBe(others)
  store.reserve(request('b', clock.now, { limit: 100_000 }))
  expect(vi.getTimerCount()).toBe(others + 1)
})

test('renews a lease as long as its call runs', async () => {
  const renewals = fakeRenewals()
  const { open, ask, clock } = await makePlace()
  const store = await open()
  store.reserve(request('a', clock.now, {}))
  const until = (): unknown => ask('SELECT held_until AS until FROM shares')[0]?.['until']
  renewals.pass()
  expect(until()).toBe(clock.now + leaseMs)
  for (let i = 0; i < 10; i++) {
    clock.now += leaseMs / 2 + 1
    renewals.pass()
    expect(until()).toBe(clock.now + leaseMs)
  }
  // A clock that is set back needs no renewal, and none that jumps ahead comes too late for a process that lives.
  clock.now = 0
  renewals.pass()
  expect(until()).toBeGreaterThan(leaseMs)
})

test('tries again to give back what it could not while another process held the file', async () => {
  const renewals = fakeRenewals()
  const { open, ask, clock } = await makePlace()
  const [store, other] = [await open(), await open()]
  store.reserve(request('a', clock.now, { units: 10 }))
  await other.append([sampleBegin('b')])
  const file = other.description.replace('sqlite ', '')
  const holder = new DatabaseSync(file)
  holder.exec('BEGIN IMMEDIATE')
  store.refund('a')
  expect(store.balance('x', clock.now)).toEqual({ spent: 0, reserved: 0 })
  renewals.pass()
  holder.exec('ROLLBACK')
  holder.close()
  expect(ask('SELECT held FROM shares')).toEqual([{ held: 10 }])
  renewals.pass()
  expect(ask('SELECT held FROM shares')).toEqual([{ held: 0 }])
})

/** Leaves the row of a process that died with units reserved. */
function leaveDead(path: string, about: { pid: number; started: string; until: number }): void {
  const db = new DatabaseSync(path)
  const found = readStoreKey(path)
  if ('problem' in found) throw new Error(found.problem)
  const writes = createSealedWrites(db, createSealer(found.key))
  const table = createSealedTable(db, writes, sealedTables.shares)
  writes.write(() => {
    db.exec(`INSERT INTO writers VALUES ('dead', ${about.pid}, '${about.started}', 1, 0)`)
    table.put({ account: 'x', writer: 'dead', spent: 2, held: 7, held_until: about.until, ends_at: null })
  })
  db.close()
}

test('frees what a dead process held, whether or not its lease ran out', async () => {
  const { path, open, ask, clock } = await makePlace()
  const store = await open()
  leaveDead(path, { pid: 2 ** 22 + 1, started: 'long ago', until: clock.now + leaseMs })
  expect(store.balance('x', clock.now)).toEqual({ spent: 2, reserved: 0 })
  expect(store.reserve(request('a', clock.now, { units: 9 }))).toMatchObject({ state: 'refused', left: 8 })
  expect(store.reserve(request('a', clock.now, { units: 8 })).state).toBe('reserved')
  expect(ask("SELECT spent, held FROM shares WHERE writer = ''")).toEqual([{ spent: 2, held: 0 }])
  expect(ask("SELECT * FROM shares WHERE writer = 'dead'")).toEqual([])
})

test('asks the lease where the system does not say which process has a number now', async () => {
  const { path, open, clock } = await makePlace()
  const store = await open()
  leaveDead(path, { pid: process.pid, started: '', until: clock.now + leaseMs })
  expect(store.balance('x', clock.now)).toEqual({ spent: 2, reserved: 7 })
  expect(store.reserve(request('a', clock.now, { units: 8 }))).toMatchObject({ state: 'refused', left: 1 })
  const later = clock.now + leaseMs
  expect(store.balance('x', later)).toEqual({ spent: 2, reserved: 0 })
  expect(store.reserve(request('a', later, { units: 8 })).state).toBe('reserved')
})

test('removes the accounts of windows that ended a while ago, and no others', async () => {
  const { open, ask } = await makePlace()
  const store = await open()
  const hour = 3_600_000
  for (let i = 0; i < 200; i++) {
    const at = i * 60_000
    store.reserve(request(`call ${i}`, at, { account: `x ${i}`, endsAt: at + 60_000 }))
    store.refund(`call ${i}`)
  }
  store.reserve(request('total', 0, { account: 'total' }))
  const left = ask('SELECT account, ends_at AS ends FROM shares WHERE ends_at IS NOT NULL')
  expect(left.length).toBeLessThan(200 - 64)
  expect(left.length).toBeGreaterThanOrEqual(60)
  expect(Math.max(...left.map(({ ends }) => Number(ends)))).toBe(200 * 60_000)
  expect(left.every(({ ends }) => Number(ends) > 200 * 60_000 - hour - 70 * 60_000)).toBe(true)
  expect(ask("SELECT account FROM shares WHERE account = 'total'")).toHaveLength(1)
})
