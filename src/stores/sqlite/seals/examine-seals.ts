import type { DatabaseSync } from 'node:sqlite'
import { findFalseHeads } from './heads.ts'
import { describeRow, goodSeal, sealedTables, type Row, type TableShape } from './sealed-table.ts'
import { xor, type Sealer } from './sealer.ts'
import { emptySums, readSums, type StoredSums, type SumName } from './sums.ts'
import { Tampered } from './tampered.ts'
import { inSnapshot } from '../base/transaction.ts'

/** What was found of the rows that are in one sum. */
interface Found {
  /** Rows that do not have their seal, in words. */
  strange: string[]
  /** Whether all rows that were written are there, as they were written last. */
  isWhole: boolean
}

/**
 * Why a store cannot be gone on from, judged by its seals: its heads, and the facts. Facts that were put in by hand do not count as
 * facts, nor as a reason. Definitions are left to their reader.
 */
export function findBrokenSeal(db: DatabaseSync, sealer: Sealer): string | undefined {
  return inSnapshot(db, () =>
    orTampered(
      () => {
        const sums = readSums(db, sealer)
        const [falseHead] = findFalseHeads(db, sealer, sums.generation)
        return falseHead ?? (look(db, sealer, { sums, sum: 'facts' }).isWhole ? undefined : incomplete.facts)
      },
      (message) => message,
    ),
  )
}

/** Everything in a store that was not written with its key, in words. Reads all of it. */
export function findForgeries(db: DatabaseSync, sealer: Sealer): string[] {
  return inSnapshot(db, () =>
    orTampered(
      () => {
        const sums = readSums(db, sealer)
        const found = (['facts', 'uses'] as const).map((sum) => {
          const { strange, isWhole } = look(db, sealer, { sums, sum, isThorough: true })
          return isWhole ? strange : [...strange, incomplete[sum]]
        })
        return [...findFalseHeads(db, sealer, sums.generation), ...found.flat()]
      },
      (message) => [message],
    ),
  )
}

function orTampered<T>(look: () => T, describe: (message: string) => T): T {
  try {
    return look()
  } catch (error) {
    if (error instanceof Tampered) return describe(error.message)
    throw error
  }
}

const incomplete: { readonly [sum in SumName]: string } = {
  facts: 'a consent, the state of a tool or a pin was changed, removed or set back by hand',
  uses: 'an idempotency key, what was spent of a budget or a document was changed, removed or set back by hand',
}

function look(
  db: DatabaseSync,
  sealer: Sealer,
  { sums, sum, isThorough = false }: { sums: StoredSums; sum: SumName; isThorough?: boolean },
): Found {
  let total: Uint8Array = emptySums(0)[sum]
  const strange: string[] = []
  for (const shape of Object.values(sealedTables)) {
    if (shape.sum !== sum) continue
    for (const row of rowsOf(db, shape)) {
      const trusts = !isThorough && row['kind'] === 'pin' && typeof row['seal'] === 'string'
      const seal = trusts ? row['seal'] : goodSeal(shape, row, sealer)
      if (typeof seal === 'string') total = xor(total, sealer.term(seal))
      else strange.push(describeRow(shape, row))
    }
  }
  return { strange, isWhole: sums[sum].equals(total) }
}

function rowsOf(db: DatabaseSync, { name, names, values }: TableShape): Iterable<Row> {
  return db.prepare(`SELECT ${[...names, ...values, 'seal'].join(', ')} FROM ${name}`).iterate()
}
