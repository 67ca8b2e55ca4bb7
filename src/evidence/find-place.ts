import type { Store } from '../contract/store.ts'

/**
 * The place in a chain behind the last record that was made before this time, in milliseconds since the epoch: what comes before it is of then.
 * Undefined if no time is named.
 */
export function findPlace(
  store: Pick<Store, 'records'>,
  tenant: string,
  until: number | undefined,
): number | undefined {
  if (until === undefined) return undefined
  const [last] = store.records({ tenant, until, newestFirst: true, limit: 1 })
  return (last?.sequence ?? 0) + 1
}
