import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import type { EndRecord } from '../../../contract/evidence.ts'
import type { BudgetRequest, Store } from '../../../contract/store.ts'
import { verifyEvidence } from '../../../evidence/chain/verify-evidence.ts'
import { openSqliteStore } from '../open-sqlite-store.ts'
import { firstOf, rounds } from '../../../../test/support/rounds.ts'

const pairs = rounds({ usual: 4, long: 20 })

const program = join(import.meta.dirname, 'budget-writer.fixture.ts')

async function openPlace(): Promise<{ path: string; store: Store }> {
  const directory = await mkdtemp(join(tmpdir(), 'handrail-budgets-'))
  const path = join(directory, 'store.db')
  const store = await openSqliteStore({ path })
  onTestFinished(async () => {
    await store.close()
    await rm(directory, { recursive: true })
  })
  return { path, store }
}

interface Writer {
  process: ChildProcess
  said: () => string
  complaints: () => string
  ended: Promise<unknown>
}

/** A running process that has opened the store. */
async function startWriter(path: string, limit: number): Promise<Writer> {
  const child = spawn(process.execPath, [program, path, String(limit)], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let [said, complaints] = ['', '']
  child.stdout.on('data', (text) => (said += String(text)))
  child.stderr.on('data', (text) => (complaints += String(text)))
  const ended = once(child, 'close')
  await Promise.race([once(child.stdout, 'data'), ended])
  return { process: child, said: () => said, complaints: () => complaints, ended }
}

function request(account: string, limit: number, units: number): BudgetRequest {
  const item = { account, limit, units, least: units, endsAt: Number.POSITIVE_INFINITY }
  return { call: `rest of ${account}`, tenant: 'local', at: Date.now(), leaseMs: 60_000, items: [item] }
}

/** What the ends in the evidence say was spent. */
function spentByRecords(store: Store): { calls: number; units: number } {
  const sum = { calls: 0, units: 0 }
  for (const { text } of store.records({ kind: 'end' })) {
    const { bytesOut } = JSON.parse(text) as EndRecord
    sum.calls++
    sum.units += bytesOut
  }
  return sum
}

test.each(firstOf([300, 3000]))(
  '64 callers in each of 3 processes spend a limit of %i to the last unit and not one more (AUTH-4)',
  async (limit) => {
    const { path, store } = await openPlace()
    const writers = await Promise.all(Array.from({ length: 3 }, () => startWriter(path, limit)))
    await Promise.all(writers.map(({ ended }) => ended))
    expect(writers.map(({ process, complaints }) => [process.exitCode, complaints()])).toEqual(
      writers.map(() => [0, '']),
    )
    const made = writers.map(({ said }) => Number(said().split('\n')[1]))
    expect(made.reduce((sum, one) => sum + one)).toBe(limit)
    expect(store.balance('calls', Date.now())).toEqual({ spent: limit, reserved: 0 })
    expect(store.balance('units', Date.now())).toEqual({ spent: spentByRecords(store).units, reserved: 0 })
    expect(verifyEvidence(store).ok).toBe(true)
  },
)

test(`at least ${2 * pairs} killed processes lose no reservation and settle no call twice (AUTH-4, EVID-7)`, async () => {
  const { path, store } = await openPlace()
  const limit = 1_000_000
  let made = 0
  // Only some are killed in the middle of a call.
  for (let round = 0; round < pairs || made <= 5 * pairs || store.orphans().length === 0; round++) {
    const writers = await Promise.all([startWriter(path, limit), startWriter(path, limit)])
    for (const writer of writers) {
      await setTimeout(Math.random() * 40)
      writer.process.kill('SIGKILL')
      await writer.ended
      expect(writer.complaints()).toBe('')
    }
    const { calls, units } = spentByRecords(store)
    made = calls
    expect(store.balance('calls', Date.now())).toEqual({ spent: calls, reserved: 0 })
    expect(store.balance('units', Date.now())).toEqual({ spent: units, reserved: 0 })
    // What the dead held is there again, and not more than that.
    expect(store.reserve(request('calls', limit, limit - calls + 1)).state).toBe('refused')
    expect(store.reserve(request('calls', limit, limit - calls)).state).toBe('reserved')
    store.refund('rest of calls')
  }
  expect(verifyEvidence(store).issue?.problem).toBe('open_begin')
})
