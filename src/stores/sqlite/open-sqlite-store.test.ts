import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'vitest'
import type { Store } from '../../contract/store.ts'
import { storeContract } from '../../testing/store-contract.ts'
import { openSqliteStore } from './open-sqlite-store.ts'

storeContract(
  'sqlite',
  async () => {
    const directory = await mkdtemp(join(tmpdir(), 'handrail-store-'))
    const path = join(directory, 'deep', 'store.db')
    const first = await openSqliteStore({ path })
    const opened = [first]
    const reopen = async (between: () => void = () => {}): Promise<Store> => {
      await opened[0]?.close()
      between()
      return (opened[0] = await openSqliteStore({ path }))
    }
    return {
      store: first,
      reopen: () => reopen(),
      async openBeside() {
        const other = await openSqliteStore({ path })
        opened.push(other)
        return other
      },
      damage: () =>
        reopen(() => {
          const db = new DatabaseSync(path)
          db.exec(
            `UPDATE records SET text = replace(text, '"user"', '"eve"') WHERE position = (SELECT max(position) FROM records)`,
          )
          db.close()
        }),
      async dispose() {
        for (const store of opened) await store.close()
        await rm(directory, { recursive: true })
      },
    }
  },
  { test },
)
