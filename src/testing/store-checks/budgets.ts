import assert from 'node:assert/strict'
import type { BudgetRequest, ReservationItem, Store } from '../../contract/store.ts'
import { sampleBegin, sampleEnd } from './sample-records.ts'
import type { Checks } from './store-under-test.ts'
import { assertRefused } from './read-back.ts'

export const budgetChecks: Checks = {
  'gives units until the limit, then says what is left (AUTH-4)': async ({ store }) => {
    assert.deepEqual(store.reserve(request('a', [item('x', { units: 4 })])), {
      state: 'reserved',
      given: [4],
    })
    assert.deepEqual(store.reserve(request('b', [item('x', { units: 5 })])), {
      state: 'reserved',
      given: [5],
    })
    assert.deepEqual(store.reserve(request('c', [item('x', { units: 2 })])), refused(0, 1))
    assert.deepEqual(store.reserve(request('c', [item('x', { units: 1 })])), {
      state: 'reserved',
      given: [1],
    })
    assert.deepEqual(store.reserve(request('d', [item('x')])), refused(0, 0))
    assert.deepEqual(store.balance('x', 0), { spent: 0, reserved: 10 })
  },

  'gives less than is wanted where less is of use (AUTH-4)': async ({ store }) => {
    store.reserve(request('a', [item('x', { units: 7 })]))
    assert.deepEqual(store.reserve(request('b', [item('x', { units: 50, least: 4 })])), refused(0, 3))
    assert.deepEqual(store.reserve(request('b', [item('x', { units: 50, least: 1 })])), {
      state: 'reserved',
      given: [3],
    })
    assert.deepEqual(store.reserve(request('c', [item('x', { units: 50, least: 0 })])), {
      state: 'reserved',
      given: [0],
    })
  },

  'takes from all accounts or from none (AUTH-4)': async ({ store }) => {
    store.reserve(request('a', [item('y', { units: 9 })]))
    const both = [item('x', { units: 5 }), item('y', { units: 2 })]
    assert.deepEqual(store.reserve(request('b', both)), refused(1, 1))
    assert.deepEqual(store.balance('x', 0), { spent: 0, reserved: 0 })
    assert.deepEqual(store.balance('y', 0), { spent: 0, reserved: 9 })
    store.refund('a')
    assert.deepEqual(store.reserve(request('b', both)), { state: 'reserved', given: [5, 2] })
    // The same account twice counts twice.
    assert.deepEqual(
      store.reserve(request('c', [item('x', { units: 3 }), item('x', { units: 3 })])),
      refused(1, 2),
    )
    assert.deepEqual(store.balance('x', 0), { spent: 0, reserved: 5 })
  },

  'gives back what a call had that does not run (AUTH-4)': async ({ store }) => {
    store.reserve(request('a', [item('x', { units: 10 }), item('y', { units: 3 })]))
    store.refund('a')
    store.refund('a')
    store.refund('nobody')
    for (const account of ['x', 'y']) assert.deepEqual(store.balance(account, 0), { spent: 0, reserved: 0 })
    assert.deepEqual(store.reserve(request('b', [item('x', { units: 10 })])), {
      state: 'reserved',
      given: [10],
    })
  },

  'replaces a reservation by what was spent, with the end of the call (AUTH-4)': async ({ store }) => {
    store.reserve(request('a', [item('x', { units: 8 }), item('y', { units: 8 })]))
    await store.append([sampleBegin('a')])
    assert.deepEqual(store.balance('x', 0), { spent: 0, reserved: 8 })
    await store.append([sampleEnd('a')], { settle: [{ call: 'a', spent: [{ account: 'x', units: 3 }] }] })
    assert.deepEqual(store.balance('x', 0), { spent: 3, reserved: 0 })
    assert.deepEqual(store.balance('y', 0), { spent: 0, reserved: 0 })
    store.refund('a')
    assert.deepEqual(store.balance('x', 0), { spent: 3, reserved: 0 })
    assert.deepEqual(store.reserve(request('b', [item('x', { units: 8 })])), refused(0, 7))
  },

  'counts what was spent beyond a reservation (AUTH-4)': async ({ store }) => {
    store.reserve(request('a', [item('x', { units: 8 })]))
    await store.append([sampleBegin('a'), sampleEnd('a')], {
      settle: [{ call: 'a', spent: [{ account: 'x', units: 12 }] }],
    })
    assert.deepEqual(store.balance('x', 0), { spent: 12, reserved: 0 })
    assert.deepEqual(store.reserve(request('b', [item('x')])), refused(0, 0))
    assert.deepEqual(store.reserve(request('b', [item('x', { limit: 20 })])), {
      state: 'reserved',
      given: [1],
    })
    assert.deepEqual(store.reserve(request('c', [item('x', { limit: 12 })])), refused(0, 0))
  },

  'settles nothing where the end is refused, and no call twice (AUTH-4)': async ({ store }) => {
    const settle = [{ call: 'a', spent: [{ account: 'x', units: 2 }] }]
    store.reserve(request('a', [item('x', { units: 5 })]))
    await assertRefused(store.append([sampleEnd('a')], { settle }))
    assert.deepEqual(store.balance('x', 0), { spent: 0, reserved: 5 })
    await store.append([sampleBegin('a')])
    const twice = await Promise.allSettled([
      store.append([sampleEnd('a')], { settle }),
      store.append([sampleEnd('a')], { settle }),
    ])
    assert.deepEqual(
      twice.map(({ status }) => status),
      ['fulfilled', 'rejected'],
    )
    assert.deepEqual(store.balance('x', 0), { spent: 2, reserved: 0 })
  },

  'never gives more than a limit, whatever the order of many calls (AUTH-4)': async ({ store }) => {
    const wanted = [
      item('small', { limit: 1000, units: 7, least: 1 }),
      item('large', { limit: 1_000_000, units: 3 }),
    ]
    let [small, large] = [0, 0]
    const call = async (name: string): Promise<void> => {
      const answer = store.reserve(request(name, wanted))
      if (answer.state === 'refused') return
      const [first = 0, second = 0] = answer.given
      await store.append([sampleBegin(name)])
      assert.ok(store.balance('small', 0).spent + store.balance('small', 0).reserved <= 1000)
      if (Number(name) % 3 === 0) return store.refund(name)
      small += first - 1
      large += second
      const spent = [
        { account: 'small', units: first - 1 },
        { account: 'large', units: second },
      ]
      await store.append([sampleEnd(name)], { settle: [{ call: name, spent }] })
    }
    await Promise.all(Array.from({ length: 500 }, (_, index) => call(String(index))))
    assert.deepEqual(store.balance('small', 0), { spent: small, reserved: 0 })
    assert.deepEqual(store.balance('large', 0), { spent: large, reserved: 0 })
    assert.ok(small > 100 && large > 100)
  },

  'forgets no spent units when a clock is set back or forward (AUTH-4)': async ({ store }) => {
    const spend = async (name: string, at: number): Promise<void> => {
      assert.equal(store.reserve({ ...request(name, [item('x')]), at }).state, 'reserved')
      await store.append([sampleBegin(name), sampleEnd(name)], {
        settle: [{ call: name, spent: [{ account: 'x', units: 1 }] }],
      })
    }
    const day = 86_400_000
    for (const [index, at] of [10 * day, 0, 20 * day, 5 * day].entries()) await spend(`call ${index}`, at)
    assert.deepEqual(store.balance('x', 0), { spent: 4, reserved: 0 })
    assert.deepEqual(store.balance('x', 30 * day), { spent: 4, reserved: 0 })
  },

  'shares accounts with other processes (AUTH-4)': async ({ store, openBeside }) => {
    if (openBeside === undefined) return
    const other = await openBeside()
    store.reserve(request('a', [item('x', { units: 6 })]))
    assert.deepEqual(other.balance('x', 0), { spent: 0, reserved: 6 })
    assert.deepEqual(other.reserve(request('b', [item('x', { units: 5 })])), refused(0, 4))
    await store.append([sampleBegin('a'), sampleEnd('a')], {
      settle: [{ call: 'a', spent: [{ account: 'x', units: 1 }] }],
    })
    assert.deepEqual(other.balance('x', 0), { spent: 1, reserved: 0 })
    assert.deepEqual(other.reserve(request('b', [item('x', { units: 9 })])), {
      state: 'reserved',
      given: [9],
    })
    assert.deepEqual(store.reserve(request('c', [item('x')])), refused(0, 0))
    other.refund('b')
    assert.deepEqual(store.reserve(request('c', [item('x', { units: 9 })])), {
      state: 'reserved',
      given: [9],
    })
  },

  'keeps a living process its reservation, however far the clock is (AUTH-4)': async ({
    store,
    openBeside,
  }) => {
    if (openBeside === undefined) return
    const other = await openBeside()
    store.reserve(request('a', [item('x', { units: 10 })]))
    const later = { ...request('b', [item('x')]), at: 1_000_000_000_000_000 }
    assert.deepEqual(other.reserve(later), refused(0, 0))
    assert.deepEqual(other.balance('x', later.at), { spent: 0, reserved: 10 })
  },

  'keeps what was spent when it is opened again, and frees what was reserved (AUTH-4)': async ({
    store,
    reopen,
  }) => {
    if (reopen === undefined) return
    const items = [item('x', { units: 4 }), item('large', { limit: 1_000_000 })]
    for (const name of ['a', 'b']) store.reserve(request(name, items))
    const spent = items.map(({ account, units }) => ({ account, units }))
    await store.append([sampleBegin('a'), sampleEnd('a')], { settle: [{ call: 'a', spent }] })
    const again = await reopen()
    assert.deepEqual(again.balance('x', 0), { spent: 4, reserved: 0 })
    assert.deepEqual(again.balance('large', 0), { spent: 1, reserved: 0 })
    assert.deepEqual(again.reserve(request('c', [item('x', { units: 6 })])), {
      state: 'reserved',
      given: [6],
    })
  },
}

function item(account: string, fields: Partial<ReservationItem> = {}): ReservationItem {
  const units = fields.units ?? 1
  return { account, limit: 10, units, least: units, endsAt: Number.POSITIVE_INFINITY, ...fields }
}

function request(call: string, items: ReservationItem[]): BudgetRequest {
  return { call, tenant: 'local', at: 0, leaseMs: 60_000, items }
}

function refused(index: number, left: number): ReturnType<Store['reserve']> {
  return { state: 'refused', item: index, left }
}
