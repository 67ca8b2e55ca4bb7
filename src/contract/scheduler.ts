import type { Schedule, ScheduleRun } from './base/schedules.ts'

/** The schedules in a store, for the program or person that operates it. */
export interface RuntimeSchedules {
  /** Of all actors of one tenant, the oldest first. Default: of `local`. */
  list(query?: { tenant?: string }): readonly Schedule[]
  find(id: string, tenant?: string): Schedule | undefined
  /** Its last runs, the newest first. */
  runs(id: string, tenant?: string): readonly ScheduleRun[]
  /** Rejects with a SetupError for an unknown one. A run that goes on goes on. */
  delete(id: string, tenant?: string): Promise<Schedule>
  /**
   * Runs it once now, in this process, and resolves with what came of it. Rejects with a SetupError if it is unknown, or if a run of it goes on.
   */
  run(id: string, tenant?: string): Promise<ScheduleRun>
  /**
   * Runs what is due from now on. Of all processes on the store that ask for it one does, and another one takes over when it ends. The returned
   * function ends that: calls under way are aborted, agents go on where schedules are run next.
   */
  start(): { close(): Promise<void> }
}
