import { existsSync } from 'node:fs'
import type { Fact, FactKind, Store } from '../contract/store.ts'
import { createMemoryStore } from '../stores/memory/create-memory-store.ts'

const kinds: readonly FactKind[] = ['consent', 'tool', 'pin']

/**
 * A store in memory that knows what decides about calls in the one at this path: consents, where tools stand, pinned definitions. Nothing
 * is written to that one; where there is none, nothing is made.
 */
export async function lookAtStore(path: string): Promise<Store> {
  const facts = existsSync(path) ? await readFacts(path) : []
  const store = createMemoryStore()
  await store.append([], { facts })
  return store
}

async function readFacts(path: string): Promise<Fact[]> {
  const { openSqliteStore } = await import('../stores/sqlite/open-sqlite-store.ts')
  const store = await openSqliteStore({ path })
  try {
    return kinds.flatMap((kind) => store.facts(kind))
  } finally {
    await store.close()
  }
}
