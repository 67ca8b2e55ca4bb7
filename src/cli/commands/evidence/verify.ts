import type { Verification } from '../../../contract/evidence.ts'
import type { KeyFiles } from '../../../evidence/chain/key-files.ts'
import { openKeyFiles } from '../../../evidence/chain/key-files.ts'
import { readText } from '../../arguments/caller.ts'
import { countOf } from '../../render/count-of.ts'
import { exitCodes } from '../../base/exit-codes.ts'
import { showJson, showSafely } from '../../base/show-safely.ts'
import { tellReads } from '../../render/progress.ts'
import { UsageError } from '../../base/usage-error.ts'
import type { Asked, EvidenceVerb } from './verb.ts'
import { findTenants, withEvidence } from './open-evidence.ts'
import { readLines } from './read-lines.ts'

/** `handrail evidence verify` */
export const verify: EvidenceVerb = async (asked) => {
  const { given, places } = asked
  const file = readText(given, 'file')
  const tenant = readText(given, 'tenant')
  if (file !== undefined && tenant !== undefined)
    throw new UsageError('An export is verified as a whole: leave out --tenant, or --file.')
  if (file !== undefined) return verifyFile(asked, file)
  const { verifyEvidence } = await import('../../../evidence/chain/verify-evidence.ts')
  return withEvidence(
    places,
    async ({ store, keys }) => {
      // A tenant whose records are all gone is known by what was signed.
      const isSigned = store.durable && keys.anchors().some((anchor) => anchor.tenant === tenant)
      if (!isSigned && findTenants(store, tenant) === undefined) return exitCodes.toolError
      const wanted = { keys, ...(tenant !== undefined && { tenant }) }
      const found = await tellReads(store, 'Verifying', (told) => verifyEvidence(told, wanted))
      return print(found, asked, { what: 'chain' })
    },
    { warns: false },
  )
}

async function verifyFile(asked: Asked, file: string): Promise<number> {
  const { verifyExport } = await import('../../../evidence/export/verify-export.ts')
  const { header, ...found } = await verifyExport(readLines(file))
  const keys = header === undefined ? '' : describeKeys(found.signed.keys, openKeyFiles(asked.places.keys))
  return print(found, asked, { what: 'export', keys })
}

/** Everybody can make a file and sign it; what it proves depends on whose key that is. */
function describeKeys(used: readonly string[], own: KeyFiles): string {
  if (used.length === 0) return ''
  const known = own.publicKeys()
  const foreign = used.filter((id) => !known.has(id))
  if (foreign.length === 0) return 'The keys are known here.\n'
  return `Not known here: ${foreign.join(', ')}. Ask the sender of the file for the id of their key.\n`
}

interface Verified {
  what: 'chain' | 'export'
  /** What is known about the keys that signed. */
  keys?: string
}

function print(found: Verification, { given }: Asked, { what, keys = '' }: Verified): number {
  const { issue } = found
  const page =
    issue === undefined
      ? `The ${what} holds: ${describe(found)}${keys}`
      : `${isBeside(issue) ? 'The records hold, and more is needed' : `The ${what} is broken`}: ${describeIssue(issue)}`
  process.stdout.write(given.options['json'] === true ? `${showJson(found)}\n` : showSafely(page))
  return found.ok ? exitCodes.ok : exitCodes.toolError
}

/** Whether the chains themselves hold. */
function isBeside({ problem }: NonNullable<Verification['issue']>): boolean {
  return problem === 'forged' || problem === 'damaged_file'
}

function describe({ records, calls, signed, withoutResult = 0 }: Verification): string {
  const gone = withoutResult === 0 ? '' : `Results that are not here any more: ${withoutResult}.\n`
  const whole = `${countOf(records, 'record')} of ${countOf(calls, 'call')}.\n${gone}`
  if (signed === undefined) return whole
  if (signed.keys.length === 0) return `${whole}No record is signed yet.\n`
  const pending = signed.pending === 0 ? '' : `; ${signed.pending} later ones are not signed yet`
  return `${whole}Signed: ${countOf(signed.records, 'record')} by ${signed.keys.join(', ')}${pending}.\n`
}

/** The first thing that is wrong, and where, if it is at a record. */
export function describeIssue({
  message,
  tenant,
  sequence,
  call,
  problem,
}: NonNullable<Verification['issue']>): string {
  if (sequence === 0) return `${message}\n`
  const of = call === '' ? '' : `, call ${call}`
  return `${message}\n  ${problem}: tenant "${tenant}", record ${sequence}${of}\n`
}
