import type { DatabaseSync } from 'node:sqlite'
import type { Sealer } from './sealer.ts'
import { Tampered } from './tampered.ts'

/** The end of a tenant's chain, as the store keeps it beside the records. */
export interface Head {
  sequence: number
  /** sha256 hex; empty before the first record. */
  hash: string
  /** Records whose body was pruned, or withheld from an import. */
  bodiless: number
}

/** The heads of a file, each sealed, so that only records which a process with the key wrote are gone on from. */
export interface Heads {
  /** Says that a transaction begins, and whether others wrote since the last one. */
  begin(othersWrote: boolean): void
  /** Throws `Tampered` where the one in the file was not written here. To be changed in place, and written. */
  get(tenant: string): Head
  /** `generation` is that of the sums once this transaction is over. */
  write(tenants: Iterable<string>, generation: number): void
  /** Says that the transaction is over, and written. */
  done(): void
  /** Says that the transaction came to nothing. */
  undo(): void
}

const columns = 'tenant, sequence, lower(hex(hash)) AS hash, bodiless, generation, seal'

/** The heads of this file. All of it belongs into a transaction. */
export function createHeads(db: DatabaseSync, sealer: Sealer): Heads {
  const select = db.prepare(`SELECT ${columns} FROM heads WHERE tenant = ?`)
  const put = db.prepare(
    'INSERT INTO heads (tenant, sequence, hash, bodiless, generation, seal) VALUES (?, ?, ?, ?, ?, ?) ' +
      'ON CONFLICT (tenant) DO UPDATE SET sequence = excluded.sequence, hash = excluded.hash, ' +
      'bodiless = excluded.bodiless, generation = excluded.generation, seal = excluded.seal',
  )
  let heads = new Map<string, Head>()
  /** How far each chain was when this process saw it last. */
  const seen = new Map<string, number>()
  let written: (readonly [tenant: string, sequence: number])[] = []
  return {
    begin(othersWrote) {
      if (othersWrote) heads = new Map()
    },
    get(tenant) {
      let head = heads.get(tenant)
      if (head !== undefined) return head
      const row = select.get(tenant)
      const issue = row === undefined ? undefined : findFalseHead(row, sealer)
      if (issue !== undefined) throw new Tampered(issue)
      head = toHead(row)
      const before = seen.get(tenant) ?? 0
      if (head.sequence < before)
        throw new Tampered(
          `the chain of the tenant "${tenant}" was set back from the record ${before} to ${head.sequence}`,
        )
      heads.set(tenant, head)
      return head
    },
    write(tenants, generation) {
      for (const tenant of tenants) {
        const head = heads.get(tenant)
        if (head === undefined) continue
        const seal = sealHead({ ...head, tenant, generation }, sealer)
        put.run(tenant, head.sequence, Buffer.from(head.hash, 'hex'), head.bodiless, generation, seal)
        written.push([tenant, head.sequence])
      }
    },
    done() {
      for (const [tenant, sequence] of written) seen.set(tenant, sequence)
      written = []
    },
    undo() {
      heads = new Map()
      written = []
    },
  }
}

/** The seal of a head. */
export function sealHead(
  { tenant, sequence, hash, bodiless, generation }: Head & { tenant: string; generation: number },
  sealer: Sealer,
): string {
  return sealer.seal('head', tenant, sequence, hash, bodiless, generation)
}

/** Every head of a file that does not have its seal, and those that know of sums later than these, in words. */
export function findFalseHeads(db: DatabaseSync, sealer: Sealer, generation: number): string[] {
  const rows = db.prepare(`SELECT ${columns} FROM heads ORDER BY tenant`).all()
  return rows.flatMap((row) => {
    const issue = findFalseHead(row, sealer)
    if (issue !== undefined) return [issue]
    return Number(row['generation']) > generation
      ? [
          `consents, states, pins, keys or budgets were set back: the chain of "${String(row['tenant'])}" knows of later ones`,
        ]
      : []
  })
}

function findFalseHead(row: Record<string, unknown>, sealer: Sealer): string | undefined {
  const tenant = String(row['tenant'])
  const is = sealHead({ ...toHead(row), tenant, generation: Number(row['generation']) }, sealer)
  if (is === row['seal']) return undefined
  return `the head of the chain of the tenant "${tenant}" does not have the seal of its key: what it leads to was not written by Handrail`
}

function toHead(row: Record<string, unknown> | undefined): Head {
  return {
    sequence: Number(row?.['sequence'] ?? 0),
    hash: typeof row?.['hash'] === 'string' ? row['hash'] : '',
    bodiless: Number(row?.['bodiless'] ?? 0),
  }
}
