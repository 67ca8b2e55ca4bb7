import type { DatabaseSync } from 'node:sqlite'
import type { StoredRecord } from '../../../contract/evidence.ts'
import { chainLink } from '../../../kit/json/digest.ts'
import { readHead } from './read-head.ts'
import { readChain } from './read-chain.ts'
import { readTenants } from './read-tenants.ts'
import { describeProblem } from '../base/sqlite-error.ts'
import { inSnapshot } from '../base/transaction.ts'

/** So many records are looked at in all, and at least so many of each tenant. */
const recordsAtOpen = 1000
const recordsOfTenant = 10

/**
 * Holds the newest records of every chain against their hashes and against the end that the store keeps beside them, back to the
 * last checkpoint or so many records. Returns the first thing that is wrong.
 */
export function findBrokenTail(db: DatabaseSync): string | undefined {
  try {
    // Records which others write meanwhile are seen with their head or not at all.
    return inSnapshot(db, () => {
      const tenants = readTenants(db)
      const limit = Math.max(recordsOfTenant, Math.floor(recordsAtOpen / tenants.length))
      for (const tenant of tenants) {
        const issue = findIssue(db, tenant, limit)
        if (issue !== undefined) return `the chain of the tenant "${tenant}" does not hold: ${issue}`
      }
      return undefined
    })
  } catch (error) {
    return `its end cannot be checked: ${describeProblem(error)}`
  }
}

function findIssue(db: DatabaseSync, tenant: string, limit: number): string | undefined {
  const head = readHead(db, tenant)
  let after: StoredRecord | undefined
  let looked = 0
  for (const record of readChain(db, { tenant, newestFirst: true, limit })) {
    const { sequence, hash } = record
    if (after === undefined && sequence !== head?.sequence)
      return `it ends with the record ${sequence}, and its head says ${head?.sequence ?? 'nothing'}`
    if (after === undefined && hash !== head?.hash)
      return `its head says another hash than the record ${sequence}`
    if (after !== undefined && !follows(after, record))
      return `the record ${after.sequence} was changed, removed or moved`
    if (after?.kind === 'checkpoint') return undefined
    after = record
    looked++
  }
  if (after === undefined) return `its head says ${head?.sequence ?? 0}, and there is no record`
  const isFirst = looked < limit || after.sequence === 1
  return isFirst && !follows(after, { sequence: 0, hash: '' })
    ? `the record ${after.sequence} was changed, or what came before it is gone`
    : undefined
}

function follows(record: StoredRecord, before: { sequence: number; hash: string }): boolean {
  return record.sequence === before.sequence + 1 && chainLink(before.hash, record.text) === record.hash
}
