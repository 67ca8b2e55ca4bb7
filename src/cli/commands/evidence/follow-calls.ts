import { setTimeout as sleep } from 'node:timers/promises'
import type { Store } from '../../../contract/store.ts'
import { findCalls, findEndedCalls, type ListedCall, type WantedCalls } from '../../../evidence/find-calls.ts'
import { listenForStop } from '../../terminal/stop-signal.ts'

/** How often the chains are looked at, which other processes write to. */
const lookMs = 200

interface Following {
  readonly wanted: Omit<WantedCalls, 'tenants' | 'before'>
  /** The tenants of now; some may come later. */
  readonly tenants: () => readonly string[]
  readonly show: (listed: ListedCall) => void
}

/** Shows the calls that ended last, the oldest first, and then each one as it ends, in every process on the store, until Ctrl-C or the reader is gone. */
export async function followCalls(store: Store, { wanted, tenants, show }: Following): Promise<void> {
  const stop = listenForStop()
  const leaving = new AbortController()
  const leave = (): void => leaving.abort()
  process.stdout.once('error', leave)
  const signal = AbortSignal.any([stop.signal, leaving.signal])
  const headOf = (tenant: string): number => store.head(tenant)?.sequence ?? 0
  try {
    const places = new Map(tenants().map((tenant) => [tenant, headOf(tenant)]))
    const ended = findCalls(store, { ...wanted, tenants: tenants() }).filter(
      ({ outcome, tenant, sequence }) => outcome !== 'running' && sequence <= (places.get(tenant) ?? 0),
    )
    for (const listed of ended.toReversed()) show(listed)
    process.stderr.write('handrail: calls are shown as they end; Ctrl-C ends this\n')
    while (!signal.aborted) {
      for (const tenant of tenants()) {
        const after = places.get(tenant) ?? 0
        const head = headOf(tenant)
        if (head === after) continue
        let place = head
        for (const listed of findEndedCalls(store, { ...wanted, tenant, after })) {
          show(listed)
          place = Math.max(place, listed.sequence)
        }
        places.set(tenant, place)
      }
      await sleep(lookMs, undefined, { signal }).catch(() => {})
    }
  } finally {
    process.stdout.removeListener('error', leave)
    stop.release()
  }
}
