import type { Artifact } from '../../contract/base/result.ts'
import type { JobOutput } from '../../contract/services/job.ts'

/** What a job wrote, without secrets, in memory that does not grow. End it once, with `finish` or `abandon`. */
export interface JobLog {
  bytes(): number
  add(chunk: { stream: 'stdout' | 'stderr'; text: string }): void
  read(options: { offset: number; maxBytes: number }): JobOutput
  /** All of it, if that is more than is kept at hand. */
  finish(): Promise<Artifact | undefined>
  abandon(): Promise<void>
}
