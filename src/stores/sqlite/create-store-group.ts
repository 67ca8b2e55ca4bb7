import { hitsWholeFile } from './base/sqlite-error.ts'
import type { PreparedEntry } from '../prepare-entry.ts'
import { createChanging } from './changing.ts'
import { createGroupCommit, type GroupCommit } from './group-commit.ts'
import { Tampered } from './seals/tampered.ts'
import type { StoreParts } from './store-parts.ts'

/** Groups what callers append into transactions of this store. */
export function createStoreGroup(parts: StoreParts): GroupCommit {
  const { condition, log, ledger, keys, upkeep } = parts
  const changing = createChanging(parts)
  const settleKeys = (entries: readonly PreparedEntry[], begun: boolean): void => {
    for (const { record } of entries) if (record.kind === 'begin') keys.settle(record.call, begun)
  }
  /** How many calls are at work beside the one that was written last. */
  let others = 0
  return createGroupCommit({
    write(appends) {
      const entries = appends.flatMap((one) => one.entries)
      const changes = appends.flatMap((one) => one.changes ?? [])
      if (entries.length === 0 && changes.length === 0) return
      condition.check()
      log.check()
      let committed: (() => void) | undefined
      const openBefore = ledger.countOpen()
      ledger.write(entries, () => (committed = changing.write(changes)))
      others = Math.min(openBefore, ledger.countOpen())
      committed?.()
      condition.worked()
      upkeep.wrote()
    },
    // With another call at work, its messages come in meanwhile.
    sync: (isAlone) => log.sync(isAlone && others === 0),
    hitsAll: (error) => hitsWholeFile(error) || error instanceof Tampered,
    kept: (entries) => settleKeys(entries, true),
    lost(entries, error) {
      settleKeys(entries, false)
      return condition.toWriteFailure(error)
    },
  })
}
