import { newId } from '../../../kit/new-id.ts'
import { sampleBegin, sampleEnd } from '../../../testing/store-checks/sample-records.ts'
import { openSqliteStore } from '../open-sqlite-store.ts'

/**
 * A process with 64 callers at a time. Each call takes one unit of `calls` and up to 50 of `units`, spends fewer of those, and
 * ends; every tenth one is given up. Prunes now and then. Says `ready` before the first call and ends, with the number of its calls,
 * when a budget is used up.
 */
const [path = '', limit = ''] = process.argv.slice(2)
const store = await openSqliteStore({ path })
let made = 0
let asked = 0

process.stdout.write('ready\n')
await Promise.all(Array.from({ length: 64 }, callUntilRefused))
await store.close()
process.stdout.write(`${made}\n`)

async function callUntilRefused(): Promise<void> {
  for (;;) {
    const call = newId('call', Date.now())
    const about = { tenant: 'local', at: Date.now(), leaseMs: 60_000 }
    const endsAt = Number.POSITIVE_INFINITY
    const items = [
      { account: 'calls', limit: Number(limit), units: 1, least: 1, endsAt },
      { account: 'units', limit: Number(limit) * 100, units: 50, least: 1, endsAt },
    ]
    const answer = store.reserve({ ...about, call, items })
    if (answer.state === 'refused') return
    if (++asked % 10 === 0) {
      // Others take their turn while it has its reservation.
      await store.append([])
      store.refund(call)
      continue
    }
    await store.append([sampleBegin(call, { writer: store.writer })])
    const units = made++ % 50
    const spent = [
      { account: 'calls', units: 1 },
      { account: 'units', units },
    ]
    // The record says it too, so that the account can be held against the evidence.
    await store.append([sampleEnd(call, { bytesOut: units })], { settle: [{ call, spent }] })
    if (made % 40 === 0) store.prune({ at: Date.now() })
  }
}
