import type { Json } from './base/json.ts'

/** Kinds of documents: what work leaves behind. Another kind is another member. */
export type DocumentKind =
  | 'run'
  | 'run_model'
  | 'run_start'
  | 'child'
  | 'node'
  | 'brief'
  | 'worktree'
  | 'task'
  | 'step'
  | 'team'
  | 'message'
  | 'worker'
  | 'todo'
  | 'definition'
  | 'setting'
  | 'schedule'
  | 'schedule_run'
  | 'schedule_book'
  | 'schedule_runner'
  | 'job'
  | 'job_callback'
  | 'program'
  | 'memory_candidate'
  | 'memory_extraction'
  | 'console_link'
  | 'console_visit'
  | 'policy_version'
  | 'console_login'
  | 'a2a_task'
  | 'a2a_token'

/**
 * What work leaves behind, and what there may be too many of to be facts, such as the steps of a task. Unique by tenant, kind, group and id. Its value
 * is JSON that the room that owns the kind reads and writes.
 */
export interface Document {
  tenant: string
  kind: DocumentKind
  /** What it belongs to, such as the id of the task of a step. */
  group: string
  id: string
  value: Json
}

/** A document to keep, or with `value` undefined one to forget. */
export type DocumentChange = Omit<Document, 'value'> & {
  value: Json | undefined
  /**
   * What it has to be until then, as `documents` returned it; null if it must not be there. If another writer was faster, nothing of what is written
   * with it is, and the reason of the error is `document_changed`. Absent: it may be anything.
   */
  was?: Json
}

/** Documents of one tenant and kind, ordered by group and then by id, as bytes of UTF-8. */
export interface DocumentQuery {
  tenant: string
  kind: DocumentKind
  group?: string
  /** Needs `group`. */
  id?: string
  /** Only those that come behind this one, in the order asked for: the last one of the page before. */
  after?: Pick<Document, 'group' | 'id'>
  limit?: number
  /** The other way round, which is the newest first where groups and ids grow with time. */
  newestFirst?: boolean
}
