import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'vitest'
import { storeContract } from '../../testing/store-contract.ts'
import { openSqliteStore } from './open-sqlite-store.ts'

storeContract(
  'sqlite',
  async () => {
    const directory = await mkdtemp(join(tmpdir(), 'handrail-store-'))
    const path = join(directory, 'deep', 'store.db')
    const first = await openSqliteStore({ path })
    let current = first
    return {
      store: first,
      async reopen() {
        await current.close()
        return (current = await openSqliteStore({ path }))
      },
      async dispose() {
        await current.close()
        await rm(directory, { recursive: true })
      },
    }
  },
  { test },
)
