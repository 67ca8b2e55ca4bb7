import type { BeginRecord } from '../contract/evidence.ts'
import type { RunningCallRow } from '../contract/base/stop.ts'
import type { Store } from '../contract/store.ts'
import { readRecord } from '../kit/result/read-record.ts'

/** Of each tenant, so many of the calls without an end that began last are looked at. */
const mostLooked = 5_000

/** The calls that began and have not ended, in processes that live; the newest first. */
export function findRunning(store: Store, tenants: readonly string[]): RunningCallRow[] {
  const found = tenants.flatMap((tenant) => {
    const begins = store.records({ tenant, kind: 'begin', open: true, newestFirst: true, limit: mostLooked })
    return [...begins].flatMap(({ text }) => toRunning(readRecord(text, 'begin'), store))
  })
  return found.toSorted((one, other) => other.at - one.at)
}

/** The call of this id, if it runs, in whatever tenant of these. */
export function findRunningCall(store: Store, tenants: readonly string[], call: string): RunningCallRow[] {
  return tenants.flatMap((tenant) =>
    [...store.records({ tenant, call, kind: 'begin' })].flatMap(({ text }) =>
      toRunning(readRecord(text, 'begin'), store),
    ),
  )
}

function toRunning(
  { tenant, session, call, tool, actor, at, writer }: BeginRecord,
  store: Store,
): RunningCallRow[] {
  const isHere = writer === store.writer
  if (!isHere && !store.lives(writer)) return []
  if (hasEnded(store, { tenant, call })) return []
  return [{ tenant, session, call, tool, actor, at, writer, here: isHere }]
}

/** Whether a call has its end in the store. */
export function hasEnded(
  store: Pick<Store, 'records'>,
  { tenant, call }: Pick<RunningCallRow, 'tenant' | 'call'>,
): boolean {
  return store.records({ tenant, call, kind: 'end' }).next().done !== true
}
