import assert from 'node:assert/strict'
import { ToolFailure } from '../../contract/base/errors.ts'
import type { StoredRecord } from '../../contract/evidence.ts'
import type { Entry, KeyUse, RecordQuery, Store } from '../../contract/store.ts'
import { chainLink } from '../../kit/json/digest.ts'

export function use(call: string, fields: Partial<KeyUse> = {}): KeyUse {
  return {
    tenant: 'local',
    tool: 'code.read_file',
    key: 'k',
    inputDigest: 'input',
    call,
    at: 100,
    windowMs: 1000,
    ...fields,
  }
}

export function note(call: string): Entry {
  const about = { tenant: 'local', session: 'session_1', call, at: 1, message: 'the callback failed' }
  return { record: { kind: 'note', event: 'permission_failed', ...about }, body: null }
}

/** What a person found out about a call. */
export function finding(call: string): Entry {
  const about = { tenant: 'local', session: 'session_1', call, at: 1, message: 'it is there' }
  return { record: { kind: 'note', event: 'outcome_resolved', ...about }, body: null }
}

export function read(store: Store, query: RecordQuery): StoredRecord[] {
  return [...store.records(query)]
}

export function kinds(store: Store): string[] {
  return read(store, {}).map(({ kind }) => kind)
}

export function assertLinked(records: readonly StoredRecord[]): void {
  let previous = ''
  for (const { text, hash } of records) assert.equal(hash, (previous = chainLink(previous, text)))
}

export async function assertRefused(written: Promise<void> | undefined): Promise<void> {
  await assert.rejects(
    async () => written,
    (error) => error instanceof ToolFailure && error.reason === 'store_failed',
  )
}
