import type { CommandLine } from '../base/command.ts'
import { UsageError } from '../base/usage-error.ts'

const usual = 20

/** How many a listing shows, of the option `limit`. */
export function readLimit({ options: { limit } }: CommandLine): number {
  if (limit === undefined) return usual
  const count = Number(limit)
  if (Number.isSafeInteger(count) && count >= 1) return count
  throw new UsageError(`--limit is "${String(limit)}"; it must be a whole number from 1 on.`)
}
