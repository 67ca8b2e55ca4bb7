import type { DocumentChange } from '../../../contract/documents.ts'
import type { NoteRecord } from '../../../contract/evidence.ts'
import { copyJson } from '../../../kit/json/copy-json.ts'
import { isDocumentChanged } from '../../../kit/result/is-document-changed.ts'
import type { TenantContext } from '../../state/scope.ts'
import { toDocument, type JobGroup, type StoredJob } from './stored-job.ts'

/** A job as this process keeps it. No other process writes it meanwhile: one that took it over makes every write fail. */
export interface JobWriter {
  readonly job: StoredJob
  /** Writes what changed, with what changes beside it, durably. False if another process has the job by now. */
  write(
    change: Partial<StoredJob>,
    beside?: { note?: NoteRecord; documents?: readonly DocumentChange[] },
  ): Promise<boolean>
}

/** Keeps a new job, or one that is in the store. */
export function createJobWriter(
  first: StoredJob,
  { group, tenant, isNew }: { group: JobGroup; tenant: TenantContext; isNew: boolean },
): JobWriter {
  let job = first
  let isKept = !isNew
  return {
    get job() {
      return job
    },
    async write(change, { note, documents = [] } = {}) {
      const next = { ...job, ...change }
      const was = isKept ? copyJson(toDocument(group, job).value) : null
      const changes = { documents: [{ ...toDocument(group, next), was }, ...documents] }
      try {
        if (note === undefined) await tenant.store.append([], changes)
        else await tenant.evidence.tell(note, changes)
      } catch (error) {
        if (isDocumentChanged(error)) return false
        throw error
      }
      isKept = true
      job = next
      return true
    },
  }
}
