import type { ToolResult } from '../../contract/base/result.ts'
import type { Job, JobOutput } from '../../contract/services/job.ts'

/** Of jobs that ended, so many are kept. */
export const maxEnded = 32

/** A job, and what holds it. */
export interface HeldJob {
  readonly id: string
  read(options: { offset: number; maxBytes: number }): JobOutput
  /** As it is now. */
  view(): Job
  /** Resolves when it has ended and that is noted. */
  readonly ended: Promise<void>
  /** What a tool returned in the end; undefined of any other job, and as long as it runs. */
  readonly result?: ToolResult | undefined
  /** Told of each line that it says from now on, without secrets. */
  onLine?: ((line: string) => void) | undefined
  /** Tells it to end. The first reason stays. */
  stop(reason: string): void
}

/** The jobs that a session has under way in this process, and those of them that ended last. */
export interface JobTable {
  /** Fails if too many run, or if the session is over. */
  add(job: HeldJob): void
  /** Takes one in that went on from before, however many run. */
  adopt(job: HeldJob): void
  /** Forgets one that did not start. */
  drop(id: string): void
  list(): readonly HeldJob[]
  anyRuns(): boolean
  find(id: string): HeldJob | undefined
  /** Ends all, and resolves when they are gone. */
  close(): Promise<void>
}
