import type { CallError } from '../base/errors.ts'
import type { JsonObject } from '../base/json.ts'
import type { Mode, Role } from '../base/principal.ts'

/** What a schedule does each time: a call of a tool, or an agent that works on a prompt. */
export type ScheduledWork =
  | { readonly tool: string; readonly input: JsonObject }
  | { readonly prompt: string }

/** A schedule as its author writes it. */
export interface NewSchedule {
  readonly name: string
  /** Five fields of cron: minute, hour, day of the month, month, day of the week. */
  readonly schedule: string
  /** IANA name. Default: that of the machine on which the schedule is made. */
  readonly timeZone?: string | undefined
  readonly work: ScheduledWork
  /** Times that passed while no process ran schedules: one run for all of them, or none. Default `once`. */
  readonly missed?: 'once' | 'skip' | undefined
  /** A time that comes while the run before goes on: left out, or one run as soon as that has ended. Default `skip`. */
  readonly overlap?: 'skip' | 'queue' | undefined
  /** It ends after so many runs. */
  readonly maxRuns?: number | undefined
  /** No run starts from then on, in milliseconds since the epoch. */
  readonly until?: number | undefined
  /** Whether it outlives the session that made it. Default true. */
  readonly durable?: boolean | undefined
}

/** A schedule as it stands. Times are in milliseconds since the epoch. */
export interface Schedule {
  readonly id: string
  readonly tenant: string
  /** Who made it; each run is theirs. */
  readonly actor: string
  readonly role: Role
  readonly mode: Mode
  readonly name: string
  readonly schedule: string
  readonly timeZone: string
  readonly work: ScheduledWork
  readonly missed: 'once' | 'skip'
  readonly overlap: 'skip' | 'queue'
  readonly maxRuns?: number
  readonly until?: number
  readonly durable: boolean
  readonly createdAt: number
  /** Absent if no other run starts by itself. */
  readonly nextAt?: number
  /** Runs that were started. */
  readonly runs: number
  /** Times that were left out, because the run before went on or the time was missed. */
  readonly skipped: number
  readonly lastRun?: ScheduleRun
}

/** One run of a schedule. */
export interface ScheduleRun {
  /** Also the id of its session, of its call there, and of the run of its agent. */
  readonly id: string
  readonly schedule: string
  /** The time that it is for; of one that a person asked for, when they did. */
  readonly dueAt: number
  readonly startedAt: number
  readonly endedAt?: number
  /** `waiting`: for a person, in the approvals. */
  readonly state: 'running' | 'waiting' | 'ok' | 'failed'
  /** What came of it, in one line. */
  readonly summary?: string
  readonly error?: Pick<CallError, 'code' | 'reason' | 'message'>
}

/** What a schedule would do if it was made, as of now. */
export interface ScheduleOutlook {
  readonly timeZone: string
  /** The next few times. */
  readonly next: readonly number[]
  /** How a run would be decided now, in words. */
  readonly decision: string
}

/**
 * The schedules of the tenant and actor of the call. What cannot be done changes nothing and rejects with a `ToolFailure`: `invalid_input`,
 * `unknown_schedule`, `too_many_schedules`, `secret_in_schedule`, or why the tool cannot be called.
 */
export interface Schedules {
  /** Checks a wish, and says what it would mean. Writes nothing. */
  examine(wish: NewSchedule): Promise<ScheduleOutlook>
  create(wish: NewSchedule): Promise<Schedule>
  /** The oldest first. */
  list(): readonly Schedule[]
  find(id: string): Schedule
  /** A run that goes on goes on. */
  delete(id: string): Promise<Schedule>
}

/** What would become of the call of a schedule, if it was made by the session that wants the schedule. */
export interface ScheduledDecision {
  readonly words: string
  readonly error: CallError | undefined
  readonly bySkill: boolean
}

/** The call that works with schedules, and what its session may do. */
export interface ScheduleCaller {
  readonly tenant: string
  readonly actor: string
  readonly role: Role
  readonly session: string
  /** The mode of the session, without what calls entered. */
  readonly mode: Mode
  /** Whether another session opened the session. */
  readonly isBelow: boolean
  readonly standingConsents: boolean
  /** Canonical names of the tools that the session may call now, without those of which a skill asks about some calls, or denies some. */
  tools(): readonly string[]
  /** Names the tool and what it comes from; undefined if the session has none of this name. */
  identify(tool: string): string | undefined
  /** What would become of such a call now: in words, why it would not run even if a person said yes, and whether it is a skill that asks. */
  decide(tool: string, input: JsonObject): Promise<ScheduledDecision>
  /** Whether a secret stands in it. */
  hasSecret(value: NewSchedule): boolean
  /** Called when the session is closed. */
  onClosed(listener: () => void): void
  /** Whether the call has ended, so that it changes nothing any more. */
  ended(): boolean
}

/** The schedules of all tenants. */
export interface ScheduleBook {
  open(caller: ScheduleCaller): Schedules
}
