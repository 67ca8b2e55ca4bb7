import type { Json } from '../../contract/base/json.ts'
import type { DocumentChange } from '../../contract/documents.ts'
import type { JobCallback } from '../../contract/services/long-tool.ts'

/** What was posted to the callback of a job, and is not taken yet. */
export interface PostedCallback {
  readonly payload: Json
  /** What removes it, together with what became of it. */
  readonly taken: DocumentChange
}

/** A job of a tenant. */
export interface JobOf {
  readonly tenant: string
  readonly job: string
}

/** The callbacks of jobs: where they are posted, and who waits for them. */
export interface JobCallbacks {
  /** Undefined if the host serves none. */
  of(job: JobOf): JobCallback | undefined
  /** Keeps the secret of its callback out of results, records and logs until the returned function is called. */
  hide(job: JobOf): () => void
  /** What waits for a job, the oldest first. */
  posted(job: JobOf): readonly PostedCallback[]
  /** Calls back when something was posted for a job in this process. */
  listen(job: JobOf, onPosted: () => void): () => void
}
