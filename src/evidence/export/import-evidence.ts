import { ToolFailure } from '../../contract/base/errors.ts'
import { readRecord } from '../../kit/result/read-record.ts'
import type { EvidenceRecord, StoredRecord } from '../../contract/evidence.ts'
import type { Entry, Store } from '../../contract/store.ts'
import type { ExportHeader } from './export-format.ts'
import { createJoint } from './import-joint.ts'
import type { KeyFiles } from '../chain/key-files.ts'
import { fromKeyText } from '../chain/signing-key.ts'
import { toIssue } from '../chain/to-issue.ts'
import { verifyExport, type ExportVerification } from './verify-export.ts'

export interface ImportRequest {
  store: Store
  /** The keys of the store. */
  keys: Pick<KeyFiles, 'publicKeys' | 'trust' | 'remember'>
  /** Ids of keys that are trusted from now on, if the export is signed with them. Others must be known already. */
  trusted?: readonly string[]
  /** Opens the lines of the export from the first one; they are read twice. */
  open: () => Iterable<string> | AsyncIterable<string>
}

/** What an import did. With an issue, nothing was written. */
export interface ImportReport extends ExportVerification {
  imported: number
  /** Records that the store had already. */
  known: number
  /** Ids of keys that are trusted since. */
  trusted: readonly string[]
}

/** So many records are written in one transaction. */
const recordsPerBatch = 500

/**
 * Takes an export into a store where the chain of each of its tenants is empty, or is continued by it. Everything is verified
 * before anything is written. Throws if another writer changes one of the tenants, or the file, at the same time. Nothing
 * is signed: a later export of the same chain goes on where this one ended.
 */
export async function importEvidence(request: ImportRequest): Promise<ImportReport> {
  const { store, keys, open } = request
  refuseReadOnly(store)
  const joint = createJoint(store)
  const found = await verifyExport(open(), (record) => joint.see(record))
  const foreign = findForeign(found, request)
  const issue = found.issue ?? foreign.issue ?? joint.findIssue(found.header)
  if (issue !== undefined) return { ...found, ok: false, issue, imported: 0, known: 0, trusted: [] }
  for (const { publicKey } of foreign.keys) keys.trust(fromKeyText(publicKey))

  let imported = 0
  let batch: StoredRecord[] = []
  const checkpoints = new Map<string, StoredRecord>()
  const writeBatch = async (): Promise<void> => {
    await writeRecords(store, batch)
    imported += batch.length
    batch = []
  }
  const again = await verifyExport(open(), async (record) => {
    if (record.sequence <= joint.endOf(record.tenant)) return
    if (record.kind === 'checkpoint') checkpoints.set(record.tenant, record)
    batch.push(record)
    if (batch.length >= recordsPerBatch) await writeBatch()
  })
  if (again.issue !== undefined)
    throw new Error(`The export was changed while it was read: ${again.issue.message}`)
  await writeBatch()
  // It was verified against its columns.
  if (store.durable)
    for (const { text } of checkpoints.values()) keys.remember(readRecord(text, 'checkpoint'), 'import')
  const trusted = foreign.keys.map(({ id }) => id)
  return { ...found, imported, known: found.records - imported, trusted }
}

/** Otherwise a key could be trusted for records that are not taken. */
function refuseReadOnly({ readOnly: message }: Store): void {
  if (message === undefined) return
  throw new ToolFailure({ code: 'PROVIDER.UNAVAILABLE', reason: 'store_read_only', message })
}

/** Keys that signed the export and are not known here: everybody can make one, so a person must say whose they are. */
function findForeign(
  { header, signed, issue }: ExportVerification,
  { keys, trusted = [] }: ImportRequest,
): { keys: ExportHeader['keys']; issue?: ReturnType<typeof toIssue> } {
  if (header === undefined || issue !== undefined) return { keys: [] }
  const known = keys.publicKeys()
  const foreign = header.keys.filter(({ id }) => signed.keys.includes(id) && !known.has(id))
  const strange = foreign.filter(({ id }) => !trusted.includes(id)).map(({ id }) => id)
  if (strange.length === 0) return { keys: foreign }
  const message =
    `The export is signed with ${strange.join(', ')}, not known here. Anyone can make a key, so ask the sender of the file for ` +
    `the id of theirs, by another way than the file came; if that is it, import it with --trust ${strange.join(',')}.`
  return { keys: [], issue: toIssue({ tenant: '', sequence: 0, call: '' }, 'bad_signature', message) }
}

/** Each batch must stand where the export has it: its hashes, and the signatures over them, hold nowhere else. */
async function writeRecords(store: Store, batch: readonly StoredRecord[]): Promise<void> {
  for (const [tenant, records] of groupByTenant(batch)) {
    const [first] = records
    const last = records.at(-1)
    if (first === undefined || last === undefined) continue
    const head = store.head(tenant)
    if ((head?.sequence ?? 0) !== first.sequence - 1) throw interfered(tenant)
    await store.append(records.map(toEntry))
    const [written] = store.records({ tenant, after: last.sequence - 1, limit: 1 })
    if (written?.hash !== last.hash) throw interfered(tenant)
  }
}

function groupByTenant(batch: readonly StoredRecord[]): Map<string, StoredRecord[]> {
  const groups = new Map<string, StoredRecord[]>()
  for (const record of batch) {
    const group = groups.get(record.tenant)
    if (group === undefined) groups.set(record.tenant, [record])
    else group.push(record)
  }
  return groups
}

/** The joint has seen that the store makes the same text of it. */
function toEntry({ text, body }: StoredRecord): Entry {
  // Its words stay as they were written, since the chain is over them.
  const record: EvidenceRecord = JSON.parse(text)
  return { record, body }
}

function interfered(tenant: string): Error {
  return new Error(
    `Another process wrote records of "${tenant}" while they were imported. Stop what runs on this store; what stands in it now does not continue the export.`,
  )
}
