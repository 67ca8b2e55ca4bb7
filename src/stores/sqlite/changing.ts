import type { Changes } from '../../contract/store.ts'
import type { Budgets } from './budgets/budgets.ts'
import type { Documents } from './documents.ts'
import type { Facts } from './facts.ts'
import type { Keys } from './keys.ts'

/** Writes what callers hand in together with records. */
export interface Changing {
  /** Call it inside a transaction, after the records. Call what it returns once that is committed. */
  write(changes: readonly Changes[]): () => void
}

interface ChangingParts {
  facts: Facts
  documents: Documents
  keys: Keys
  budgets: Budgets
}

/** Hands each kind of change to where it belongs. */
export function createChanging(to: ChangingParts): Changing {
  const { facts, documents, keys, budgets } = to
  return {
    write(changes) {
      if (changes.length === 0) return () => {}
      for (const resolution of changes.flatMap(({ resolve }) => resolve ?? [])) keys.resolve(resolution)
      const changed = changes.flatMap((one) => one.facts ?? [])
      if (changed.length > 0) facts.change(changed)
      documents.change(changes.flatMap((one) => one.documents ?? []))
      const settled = budgets.settle(changes.flatMap(({ settle }) => settle ?? []))
      return () => {
        settled()
        if (changed.length > 0) facts.written()
      }
    },
  }
}
