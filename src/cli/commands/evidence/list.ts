import type { EvidenceVerb } from './verb.ts'
import { readText } from '../../caller.ts'
import { exitCodes } from '../../exit-codes.ts'
import { showJson } from '../../show-safely.ts'
import { UsageError } from '../../usage-error.ts'
import { findCalls, toCallLine } from './list-calls.ts'
import { findNotes, toNoteLine } from './list-notes.ts'
import { findTenants, withEvidence } from './open-evidence.ts'

/** `handrail evidence list` */
export const list: EvidenceVerb = async ({ given, places }) => {
  const limit = Number(given.options['limit'] ?? 20)
  if (!Number.isSafeInteger(limit) || limit < 1)
    throw new UsageError(
      `--limit is "${String(given.options['limit'])}"; it must be a whole number from 1 on.`,
    )
  const [tenant, session] = [readText(given, 'tenant'), readText(given, 'session')]
  return withEvidence(places, async ({ store }) => {
    const tenants = findTenants(store, tenant)
    if (tenants === undefined) return exitCodes.toolError
    const wanted = { tenants, limit, ...(session !== undefined && { session }) }
    if (given.options['notes'] === true) print(findNotes(store, wanted), toNoteLine, 'notes')
    else print(findCalls(store, wanted), toCallLine, 'calls')
    return exitCodes.ok
  })

  function print<T>(found: readonly T[], toLine: (one: T) => string, what: string): void {
    const text =
      given.options['json'] === true
        ? showJson(found)
        : `${found.map((one) => `${toLine(one)}\n`).join('')}${found.length} ${what}`
    process.stdout.write(`${text}\n`)
  }
}
