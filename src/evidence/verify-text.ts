import type { ChainFault, StoredRecord } from '../contract/evidence.ts'
import { digest } from '../kit/digest.ts'
import { isPlainObject } from '../kit/is-plain-object.ts'
import { toFault } from './to-fault.ts'

/** Whether the columns and the body of a record are what its text, which the chain protects, says. */
export function verifyText(stored: StoredRecord): ChainFault | undefined {
  const bodyDigest = stored.body === null ? undefined : digest(stored.body)
  return agreesAtFirstSight(stored, bodyDigest) ? undefined : compare(stored, bodyDigest)
}

/**
 * Finds nearly all good records without parsing them. A quote inside a JSON string is escaped, so in a record, whose keys are
 * fixed, these pieces stand only where they mean what they say.
 */
function agreesAtFirstSight(stored: StoredRecord, bodyDigest: string | undefined): boolean {
  const { kind, text } = stored
  const session = JSON.stringify(stored.session)
  const place = `"tenant":${JSON.stringify(stored.tenant)},"session":${session},"call":${JSON.stringify(stored.call)},`
  if (!text.startsWith(`{"kind":"${kind}",`) || !text.includes(place)) return false
  if (bodyDigest === undefined) return true
  return kind !== 'note' && text.includes(`"${kind === 'begin' ? 'input' : 'result'}":"${bodyDigest}"`)
}

function compare(stored: StoredRecord, bodyDigest: string | undefined): ChainFault | undefined {
  const record = parse(stored.text)
  if (record === undefined)
    return toFault(stored, 'changed', `The record ${stored.sequence} is not a record.`)
  for (const column of ['tenant', 'kind', 'session', 'call'] as const) {
    const value = record[column] ?? ''
    const said = typeof value === 'string' ? value.toWellFormed() : JSON.stringify(value)
    if (stored[column] === said) continue
    const message = `The column ${column} of the record ${stored.sequence} says "${stored[column]}", its text "${said}".`
    return toFault(stored, 'column_mismatch', message)
  }
  const said =
    stored.kind === 'begin' ? record['input'] : stored.kind === 'end' ? record['result'] : undefined
  // A pruned body is gone on purpose.
  if (bodyDigest === undefined || bodyDigest === said) return undefined
  const what = stored.kind === 'begin' ? 'input' : 'result'
  return toFault(
    stored,
    'body_changed',
    `The ${what} of the call "${stored.call}" does not have the digest that its record says.`,
  )
}

function parse(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isPlainObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
