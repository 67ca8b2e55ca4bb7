import { existsSync } from 'node:fs'
import type { Store } from '../contract/store.ts'
import type { Places } from './wire.ts'

/** Hands over the store of the home folder as it is; one that is not there yet is an empty one, and is not made by looking. */
export async function withStore<T>({ store: path }: Places, act: (store: Store) => Promise<T>): Promise<T> {
  if (!existsSync(path)) {
    process.stderr.write(`handrail: there is no store at "${path}" yet; it is made by the first call.\n`)
    const { createMemoryStore } = await import('../stores/memory/create-memory-store.ts')
    return act(createMemoryStore())
  }
  const { openSqliteStore } = await import('../stores/sqlite/open-sqlite-store.ts')
  const store = await openSqliteStore({ path })
  try {
    return await act(store)
  } finally {
    await store.close()
  }
}
