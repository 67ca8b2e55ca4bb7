import type { ChainIssue, StoredRecord } from '../../contract/evidence.ts'
import { digest } from '../../kit/json/digest.ts'
import { splitBeginBody } from '../../kit/result/split-begin-body.ts'
import { parseRecord } from './parse-record.ts'
import { toIssue } from './to-issue.ts'

/** Whether the columns and the body of a record are what its text, which the chain protects, says. */
export type TextCheck = (stored: StoredRecord) => ChainIssue | undefined

/**
 * A check for the records of one tenant. Nearly all good records are found without parsing them: begins and ends start with their
 * columns, which are the same for all calls of a session but for the call. What does not look good is parsed and compared.
 */
export function createTextCheck(tenant: string): TextCheck {
  let session: string | undefined
  let beginStart = ''
  let endStart = ''
  const input = createField('input')
  const plan = createField('plan')
  const result = createField('result')

  const startOf = ({ kind, session: own }: StoredRecord): string | undefined => {
    if (own !== session) {
      session = own
      const place = `"tenant":${JSON.stringify(tenant)},"session":${JSON.stringify(own)},"call":"`
      beginStart = `{"kind":"begin",${place}`
      endStart = `{"kind":"end",${place}`
    }
    return kind === 'begin' ? beginStart : kind === 'end' ? endStart : undefined
  }
  /** A pruned body is gone on purpose and fits. */
  const fitsBody = ({ kind, text, body }: StoredRecord, from: number): boolean => {
    if (body === null) return true
    if (kind === 'end') return result.says(text, digest(body), from)
    const { input: given, operations } = splitBeginBody(body)
    if (!input.says(text, digest(given), from)) return false
    return operations === undefined ? plan.isMissing(text, from) : plan.says(text, digest(operations), from)
  }
  return (stored) => {
    const start = stored.tenant === tenant ? startOf(stored) : undefined
    const good = start !== undefined && startsWith(stored, start) && fitsBody(stored, start.length)
    return good ? undefined : compare(stored)
  }
}

/** A call with a letter that JSON escapes is left to the long way. */
function startsWith({ text, call }: StoredRecord, start: string): boolean {
  const end = start.length + call.length
  return (
    text.startsWith(start) &&
    text.startsWith(call, start.length) &&
    text.startsWith('",', end) &&
    !/["\\]/.test(call)
  )
}

/** A member of records whose value is a digest. */
interface Field {
  says(text: string, value: string, from: number): boolean
  isMissing(text: string, from: number): boolean
}

/**
 * A quote inside a JSON string is escaped, so in a record, whose keys are fixed, the name of a field with its quotes stands only
 * where it means what it says. That is mostly the place where the record before had it, and is looked at first.
 */
function createField(name: string): Field {
  const field = `"${name}":"`
  // Texts are full of quotes, at each of which a search that starts with one stops.
  const unquoted = `${name}":`
  let usual = 0
  return {
    says(text, value, from) {
      if (usual < from || !text.startsWith(field, usual)) usual = text.indexOf(field, from)
      const at = usual + field.length
      return at >= field.length && text.startsWith(value, at) && text.charAt(at + value.length) === '"'
    },
    isMissing: (text, from) => !text.includes(unquoted, from),
  }
}

function compare(stored: StoredRecord): ChainIssue | undefined {
  const record = parseRecord(stored.text)
  if (record === undefined)
    return toIssue(stored, 'changed', `The record ${stored.sequence} is not a record.`)
  for (const column of ['tenant', 'kind', 'session', 'call'] as const) {
    const value = record[column] ?? ''
    const said = typeof value === 'string' ? value.toWellFormed() : JSON.stringify(value)
    if (stored[column] === said) continue
    const message = `The column ${column} of the record ${stored.sequence} says "${stored[column]}", its text "${said}".`
    return toIssue(stored, 'column_mismatch', message)
  }
  for (const [field, value] of digestBody(stored)) {
    if (value === record[field]) continue
    return toIssue(
      stored,
      'body_changed',
      `The ${field} of the call "${stored.call}" does not have the digest that its record says.`,
    )
  }
  return undefined
}

/** What the text must say for this body. */
function digestBody({ kind, body }: StoredRecord): readonly (readonly [string, string | undefined])[] {
  if (body === null) return []
  if (kind !== 'begin') return [['result', digest(body)]]
  const { input, operations } = splitBeginBody(body)
  return [
    ['input', digest(input)],
    ['plan', operations === undefined ? undefined : digest(operations)],
  ]
}
