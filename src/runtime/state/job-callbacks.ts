import type { Json } from '../../contract/base/json.ts'
import type { DocumentChange } from '../../contract/documents.ts'
import type { JobCallback } from '../../contract/services/long-tool.ts'

/** What was posted to the callback of a job, and is not taken yet. */
export interface PostedCallback {
  readonly payload: Json
  /** What removes it, together with what became of it. */
  readonly taken: DocumentChange
}

/** The callbacks of jobs: where they are posted, and who waits for them. */
export interface JobCallbacks {
  /** Undefined if the host serves none. */
  of(job: string): JobCallback | undefined
  /** What waits for a job, the oldest first. */
  posted(tenant: string, job: string): readonly PostedCallback[]
  /** Calls back when something was posted for a job in this process. */
  listen(job: string, onPosted: () => void): () => void
}
