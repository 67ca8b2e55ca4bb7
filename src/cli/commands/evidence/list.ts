import type { EndRecord } from '../../../contract/evidence.ts'
import type { Store } from '../../../contract/store.ts'
import { findResolution } from '../../../evidence/resolve-outcome.ts'
import { readText } from '../../caller.ts'
import { exitCodes } from '../../exit-codes.ts'
import { showLine } from '../../show-safely.ts'
import { UsageError } from '../../usage-error.ts'
import type { EvidenceVerb } from './verb.ts'
import { tenantsOf, withEvidence } from './open-evidence.ts'

/** `handrail evidence list` */
export const list: EvidenceVerb = async ({ given, places }) => {
  const limit = Number(given.options['limit'] ?? 20)
  if (!Number.isSafeInteger(limit) || limit < 1)
    throw new UsageError(
      `--limit is "${String(given.options['limit'])}"; it must be a whole number from 1 on.`,
    )
  const [tenant, session] = [readText(given, 'tenant'), readText(given, 'session')]
  return withEvidence(places, async ({ store }) => {
    const calls = findCalls(store, { tenant, session, limit })
    if (given.options['json'] === true) process.stdout.write(`${JSON.stringify(calls, null, 2)}\n`)
    else process.stdout.write(`${calls.map(toLine).join('')}${calls.length} calls\n`)
    return exitCodes.ok
  })
}

/** The end of a call, and what a person found out since. */
interface ListedCall extends EndRecord {
  sequence: number
  resolved?: string
}

interface Wanted {
  tenant: string | undefined
  session: string | undefined
  limit: number
}

/** The latest ends, newest first. */
function findCalls(store: Store, { tenant, session, limit }: Wanted): ListedCall[] {
  return tenantsOf(store, tenant)
    .flatMap((name) => [
      ...store.records({
        tenant: name,
        kind: 'end',
        newestFirst: true,
        limit,
        ...(session !== undefined && { session }),
      }),
    ])
    .map(({ text, sequence }) => {
      // The store keeps the text of records that Handrail wrote; verify tells where it does not.
      const end = JSON.parse(text) as EndRecord
      const resolved = end.outcome === 'unknown' ? findResolution(store, end)?.data?.['outcome'] : undefined
      return { ...end, sequence, ...(typeof resolved === 'string' && { resolved }) }
    })
    .sort((left, right) => right.at - left.at)
    .slice(0, limit)
}

function toLine({ at, call, outcome, tool, code, reason, resolved }: ListedCall): string {
  const why = code === undefined ? '' : `  ${code} (${reason ?? ''})`
  const found = resolved === undefined ? '' : `, resolved: ${resolved.replace('_', ' ')}`
  return `${new Date(at).toISOString()}  ${call}  ${outcome.padEnd(7)}  ${showLine(tool)}${why}${found}\n`
}
