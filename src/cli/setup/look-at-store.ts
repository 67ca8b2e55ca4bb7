import { existsSync } from 'node:fs'
import type { FactKind, Store } from '../../contract/store.ts'
import { createMemoryStore } from '../../stores/memory/create-memory-store.ts'

const kinds: readonly FactKind[] = ['abort', 'approval', 'consent', 'pause', 'pin', 'session', 'tool']

/**
 * A store in memory that knows what decides about calls in the one at this path: consents, where tools stand, pinned definitions, and what
 * is left of budgets, and what work left behind; and that asks that one for keys and digests. Nothing is written to that one; where there is none, nothing is made.
 */
export async function lookAtStore(path: string): Promise<Store> {
  const scratch = createMemoryStore()
  if (!existsSync(path)) return scratch
  const { openSqliteStore } = await import('../../stores/sqlite/open-sqlite-store.ts')
  const looked = await openSqliteStore({ path })
  await scratch.append([], { facts: kinds.flatMap((kind) => looked.facts(kind)) })
  return {
    ...scratch,
    balance: (account, at) => looked.balance(account, at),
    findKey: (use) => looked.findKey(use),
    documents: (query) => looked.documents(query),
    lives: (writer) => looked.lives(writer),
    digest: (text) => looked.digest(text),
    async close() {
      await looked.close()
      await scratch.close()
    },
  }
}
