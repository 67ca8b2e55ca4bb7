import type { ChainFault, StoredRecord } from '../contract/evidence.ts'
import { digest } from '../kit/digest.ts'
import { isPlainObject } from '../kit/is-plain-object.ts'
import { splitBeginBody } from '../kit/split-begin-body.ts'
import { toFault } from './to-fault.ts'

/** Fields of a record that say what its body is. */
type BodyField = 'input' | 'plan' | 'result'
type BodyDigest = readonly [BodyField, string | undefined]

/** Whether the columns and the body of a record are what its text, which the chain protects, says. */
export function verifyText(stored: StoredRecord): ChainFault | undefined {
  const digests = digestBody(stored)
  return agreesAtFirstSight(stored, digests) ? undefined : compare(stored, digests)
}

/** What the text must say for this body. A pruned body is gone on purpose and says nothing. */
function digestBody({ kind, body }: StoredRecord): readonly BodyDigest[] {
  if (body === null) return []
  if (kind !== 'begin') return [['result', digest(body)]]
  const { input, operations } = splitBeginBody(body)
  return [
    ['input', digest(input)],
    ['plan', operations === undefined ? undefined : digest(operations)],
  ]
}

/**
 * Finds nearly all good records without parsing them. A quote inside a JSON string is escaped, so in a record, whose keys are
 * fixed, these pieces stand only where they mean what they say.
 */
function agreesAtFirstSight(stored: StoredRecord, digests: readonly BodyDigest[]): boolean {
  const { kind, text } = stored
  const session = JSON.stringify(stored.session)
  const place = `"tenant":${JSON.stringify(stored.tenant)},"session":${session},"call":${JSON.stringify(stored.call)},`
  if (!text.startsWith(`{"kind":"${kind}",`) || !text.includes(place)) return false
  for (const [field, value] of digests) {
    if (value === undefined ? text.includes(`"${field}":`) : !text.includes(`"${field}":"${value}"`))
      return false
  }
  return kind === 'begin' || kind === 'end' || digests.length === 0
}

function compare(stored: StoredRecord, digests: readonly BodyDigest[]): ChainFault | undefined {
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
  for (const [field, value] of digests) {
    if (value === record[field]) continue
    return toFault(
      stored,
      'body_changed',
      `The ${field} of the call "${stored.call}" does not have the digest that its record says.`,
    )
  }
  return undefined
}

function parse(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isPlainObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
