import type { Store } from '../contract/store.ts'

/** Whether a store takes records right now, as far as it knows. */
export function takesRecords(store: Pick<Store, 'readOnly' | 'trouble'>): boolean {
  return store.readOnly === undefined && store.trouble === undefined
}
