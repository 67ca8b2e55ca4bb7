import { budgetChecks } from './store-checks/budgets.ts'
import { chainChecks } from './store-checks/chain.ts'
import { documentChecks } from './store-checks/documents.ts'
import { factChecks } from './store-checks/facts.ts'
import { keyChecks } from './store-checks/keys.ts'
import { lifeChecks } from './store-checks/life.ts'
import { pruneChecks } from './store-checks/prune.ts'
import { queryChecks } from './store-checks/queries.ts'
import type { StoreUnderTest } from './store-checks/store-under-test.ts'

/** Declares one test; the `test` of vitest, `node:test` and others fit. */
export type DeclareTest = (title: string, run: () => Promise<void>) => unknown

/** Declares the tests that every store must pass. `open` returns an empty store each time. */
export function storeContract(
  name: string,
  open: () => Promise<StoreUnderTest>,
  { test }: { test: DeclareTest },
): void {
  for (const [title, check] of Object.entries({
    ...chainChecks,
    ...queryChecks,
    ...keyChecks,
    ...factChecks,
    ...documentChecks,
    ...budgetChecks,
    ...pruneChecks,
    ...lifeChecks,
  }))
    test(`${name}: ${title}`, async () => {
      const subject = await open()
      try {
        await check(subject)
      } finally {
        await subject.dispose()
      }
    })
}
