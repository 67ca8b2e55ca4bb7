import type { EvidenceRecord, StoredRecord } from '../../contract/evidence.ts'
import { isPlainObject } from '../../kit/json/is-plain-object.ts'
import type { ExportEnd, ExportHeader } from './export-format.ts'
import { parseRecord } from '../chain/parse-record.ts'

/** What a line of an export says. */
export type ExportLine =
  | { kind: 'header'; header: ExportHeader }
  | { kind: 'record'; record: StoredRecord }
  | { kind: 'end'; end: ExportEnd }
  | { kind: 'unreadable'; why: string }

/** Reads one line; the form of what it holds is checked, not whether it is true. */
export function readExportLine(line: string): ExportLine {
  const value = parseRecord(line)
  if (value === undefined) return { kind: 'unreadable', why: 'is not a JSON object' }
  if (value['handrail'] !== undefined) return readHeader(value)
  if (value['end'] === true) return readEnd(value, line)
  return readRecord(value)
}

function readHeader(value: Record<string, unknown>): ExportLine {
  const { handrail, version, tenants, keys } = value
  if (handrail !== 'evidence') return { kind: 'unreadable', why: 'starts no export of evidence' }
  if (version !== 1)
    return {
      kind: 'unreadable',
      why: `is of the version ${String(version)}, and this program reads 1; update Handrail`,
    }
  const good =
    isList(tenants, { tenant: 'string', after: 'number', hash: 'string' }) &&
    isList(keys, { id: 'string', publicKey: 'string' })
  // Checked right above.
  return good
    ? { kind: 'header', header: value as unknown as ExportHeader }
    : { kind: 'unreadable', why: 'lacks tenants or keys' }
}

/** No digest covers this line, so it must be exactly what is written. */
function readEnd(value: Record<string, unknown>, line: string): ExportLine {
  const { records, tenants, digest } = value
  const good =
    typeof records === 'number' &&
    typeof digest === 'string' &&
    isList(tenants, { tenant: 'string', sequence: 'number', hash: 'string' })
  if (!good) return { kind: 'unreadable', why: 'lacks its counts' }
  const names = tenants.map(({ tenant, sequence, hash }) => ({ tenant, sequence, hash }))
  const end: ExportEnd = { end: true, records, tenants: names, digest }
  return line === JSON.stringify(end)
    ? { kind: 'end', end }
    : { kind: 'unreadable', why: 'is not as an export ends' }
}

function readRecord(value: Record<string, unknown>): ExportLine {
  const { tenant, sequence, hash, text, body } = value
  const good =
    typeof tenant === 'string' &&
    typeof sequence === 'number' &&
    typeof hash === 'string' &&
    typeof text === 'string' &&
    (body === undefined || body === null || typeof body === 'string')
  if (!good) return { kind: 'unreadable', why: 'is not a record' }
  const said = parseRecord(text) ?? {}
  const member = (name: string): string => {
    const found = said[name]
    return typeof found === 'string' ? found.toWellFormed() : ''
  }
  const kind = kinds.find((one) => one === member('kind')) ?? 'note'
  const [session, call] = [member('session'), member('call')]
  return { kind: 'record', record: { tenant, sequence, kind, session, call, text, hash, body: body ?? null } }
}

const kinds: readonly EvidenceRecord['kind'][] = ['begin', 'end', 'note', 'checkpoint']

function isList<Fields extends { readonly [name: string]: 'string' | 'number' }>(
  value: unknown,
  fields: Fields,
): value is { [name in keyof Fields]: Fields[name] extends 'string' ? string : number }[] {
  return (
    Array.isArray(value) &&
    value.every(
      (item) =>
        isPlainObject(item) && Object.entries(fields).every(([name, type]) => typeof item[name] === type),
    )
  )
}
