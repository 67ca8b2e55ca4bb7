import type { DatabaseSync } from 'node:sqlite'
import { xor, type Sealer } from './sealer.ts'
import { readSecret } from './secret.ts'
import { Tampered } from './tampered.ts'

/** Of which rows there is a sum: facts, and what calls use and leave, which are keys, shares of budgets and documents. */
export type SumName = 'facts' | 'uses'

/**
 * Sums of the sealed rows of a store, in a row that is sealed itself. A seal shows that a row was written here once; the sum, that none of
 * them is missing or was set back. All but `stored` belongs into a transaction.
 */
export interface Sums {
  /** Says that a transaction begins, and whether others wrote since the last one. */
  begin(othersWrote: boolean): void
  /** Takes the row with one seal out, and the row with the other in. */
  replace(sum: SumName, was: string | undefined, is: string | undefined): void
  /** Counts the changes of the sums; higher by one once this transaction changed any. */
  generation(): number
  /** Writes what changed. */
  end(): void
  /** Says that the transaction came to nothing. */
  undo(): void
  /** What the file says. Throws `Tampered` where that is not what was written. */
  stored(): StoredSums
}

export interface StoredSums {
  generation: number
  facts: Buffer
  uses: Buffer
}

const termBytes = 32

const putSums =
  "INSERT INTO sums (name, generation, facts, uses, seal) VALUES ('rows', ?, ?, ?, ?) ON CONFLICT (name) DO UPDATE SET " +
  'generation = excluded.generation, facts = excluded.facts, uses = excluded.uses, seal = excluded.seal'

/** The sums of this file. */
export function createSums(db: DatabaseSync, sealer: Sealer): Sums {
  const put = db.prepare(putSums)
  /** Never changes; that it did not, is checked with the sums that others wrote. */
  let secret: Uint8Array | undefined
  let known: StoredSums | undefined
  let next: StoredSums | undefined
  const current = (): StoredSums => next ?? (known ??= readSums(db, sealer))
  return {
    begin(othersWrote) {
      next = undefined
      if (othersWrote) known = undefined
    },
    replace(sum, was, is) {
      if (next === undefined) {
        const before = current()
        next = { ...before, generation: before.generation + 1 }
      }
      for (const seal of [was, is]) if (seal !== undefined) next[sum] = xor(next[sum], sealer.term(seal))
    },
    generation: () => current().generation,
    end() {
      if (next === undefined) return
      put.run(...toColumns(next, sealer, (secret ??= readSecret(db))))
      known = next
      next = undefined
    },
    undo() {
      known = undefined
      next = undefined
    },
    stored: () => readSums(db, sealer),
  }
}

/** Sums of no rows. */
export function emptySums(generation: number): StoredSums {
  return { generation, facts: Buffer.alloc(termBytes), uses: Buffer.alloc(termBytes) }
}

/** Reads and checks the sums that stand in the file. Their seal is over the secret of the store too. */
export function readSums(db: DatabaseSync, sealer: Sealer): StoredSums {
  const row = db.prepare("SELECT generation, facts, uses, seal FROM sums WHERE name = 'rows'").get()
  const { facts, uses, seal } = row ?? {}
  if (facts instanceof Uint8Array && uses instanceof Uint8Array && typeof seal === 'string') {
    const sums = {
      generation: Number(row?.['generation']),
      facts: sealer.veil(facts, seal, 'facts'),
      uses: sealer.veil(uses, seal, 'uses'),
    }
    if (sealOf(sums, sealer, readSecret(db)) === seal) return sums
  }
  throw new Tampered(
    'the sums of its rows do not have the seal of its key: they were changed, or the key is another one',
  )
}

/** Whether the sums of this file have the seal of this key. */
export function hasSums(db: DatabaseSync, sealer: Sealer): boolean {
  try {
    readSums(db, sealer)
    return true
  } catch (error) {
    if (error instanceof Tampered) return false
    throw error
  }
}

/** Writes these sums in place of those that are there. */
export function writeSums(db: DatabaseSync, sealer: Sealer, sums: StoredSums): void {
  db.prepare(putSums).run(...toColumns(sums, sealer, readSecret(db)))
}

function toColumns(
  sums: StoredSums,
  sealer: Sealer,
  secret: Uint8Array,
): [generation: number, facts: Buffer, uses: Buffer, seal: string] {
  const seal = sealOf(sums, sealer, secret)
  return [sums.generation, sealer.veil(sums.facts, seal, 'facts'), sealer.veil(sums.uses, seal, 'uses'), seal]
}

function sealOf({ generation, facts, uses }: StoredSums, sealer: Sealer, secret: Uint8Array): string {
  const parts = [facts, uses, Buffer.from(secret)].map((part) => part.toString('base64url'))
  return sealer.seal('sums', generation, ...parts)
}
