import type { EvidenceRecord, StoredRecord } from '../../../contract/evidence.ts'
import { splitBeginBody } from '../../../kit/result/split-begin-body.ts'
import { readText } from '../../arguments/caller.ts'
import { exitCodes } from '../../base/exit-codes.ts'
import { showSafely, writeJson } from '../../base/show-safely.ts'
import type { EvidenceVerb } from './verb.ts'
import { findMeant, withEvidence } from './open-evidence.ts'
import { readRecord } from '../../../kit/result/read-record.ts'

/** `handrail evidence show` */
export const show: EvidenceVerb = ({ given, places, what: call }) =>
  withEvidence(places, async ({ store }) => {
    const meant = findMeant(store, { what: 'call', text: call, tenant: readText(given, 'tenant') })
    if (meant === undefined) return exitCodes.toolError
    const records = meant.tenants.flatMap((tenant) => [...store.records({ tenant, call: meant.id })])
    const shown = records.map(toShown)
    if (given.options['json'] === true) writeJson(shown)
    else for (const each of shown) process.stdout.write(showSafely(toPage(each)))
    return exitCodes.ok
  })

/** A record of the call: a begin with its input and planned operations, an end with what it gave, a note. Null if it was pruned. */
interface ShownRecord {
  sequence: number
  hash: string
  record: EvidenceRecord
  input?: unknown
  operations?: unknown
  result?: unknown
}

function toShown({ sequence, hash, kind, text, body }: StoredRecord): ShownRecord {
  const shown = { sequence, hash, record: readRecord(text) }
  if (kind === 'end') return { ...shown, result: parse(body) }
  if (kind !== 'begin') return shown
  const { input, operations } = body === null ? { input: null, operations: undefined } : splitBeginBody(body)
  return { ...shown, input: parse(input), ...(operations !== undefined && { operations: parse(operations) }) }
}

/** A body that was changed by hand is shown as it is; verify says that it was changed. */
function parse(text: string | null): unknown {
  if (text === null) return null
  try {
    return JSON.parse(text)
  } catch {
    return `no JSON any more, so it was changed; "handrail evidence verify" names the record: ${text}`
  }
}

function toPage({ sequence, hash, record, ...bodies }: ShownRecord): string {
  const rows = Object.entries({ ...record, hash }).map(
    ([name, value]) => `  ${name.padEnd(15)} ${toText(name, value)}\n`,
  )
  // What does not fit its tool is not kept; everything else was.
  const gone = record.kind === 'begin' && record.input === '' ? '(not kept)' : '(pruned)'
  const blocks = Object.entries(bodies).map(([name, value]) => {
    const text = value === null ? gone : JSON.stringify(value, null, 2)
    return `  ${name}\n${text.replace(/^/gm, '  ')}\n`
  })
  return `#${sequence} ${record.kind}\n${rows.join('')}${blocks.join('')}\n`
}

function toText(name: string, value: unknown): string {
  if (name === 'at' && typeof value === 'number') return `${new Date(value).toISOString()} (${value})`
  return typeof value === 'string' ? value : JSON.stringify(value)
}
