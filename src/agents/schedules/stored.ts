import type { Json } from '../../contract/base/json.ts'
import type { Schedule, ScheduleRun } from '../../contract/base/schedules.ts'
import type { DocumentChange } from '../../contract/documents.ts'
import type { StepResult } from '../../contract/pending-approval.ts'
import type { Store } from '../../contract/store.ts'

/** A schedule as its document has it. */
export interface StoredSchedule extends Omit<Schedule, 'nextAt' | 'lastRun'> {
  /** The session and the process that made it. */
  readonly session: string
  readonly writer: string
  /** What its author could call when they made it: no run can call more. */
  readonly tools: readonly string[]
  /** Names the tool that it calls and what that comes from. */
  readonly identity?: string
  readonly standingConsents: boolean
  readonly nextAt: number | null
  /** When its times were looked at last. */
  readonly seenAt: number
  /** Its run that goes on or waits. */
  readonly current: string | null
  /** The time of the run that comes as soon as that one has ended. */
  readonly queuedAt: number | null
}

/** A run as its document has it. */
export interface StoredRun extends ScheduleRun {
  /** The process that makes it. */
  readonly writer: string
  /** What has become of its call so far, if that waits. */
  readonly step?: StepResult
  /** Ids of the approvals that it waits for. */
  readonly waits: readonly string[]
}

/** So many runs of a schedule are kept, beside one that goes on. */
export const keptRuns = 20

/** The schedules of a tenant, by when they were made. */
export function readSchedules(store: Store, tenant: string, actor?: string): StoredSchedule[] {
  return store
    .documents({ tenant, kind: 'schedule', ...(actor !== undefined && { group: actor }) })
    .map(({ value }) => value as unknown as StoredSchedule)
    .filter((schedule) => isKept(store, schedule))
    .toSorted((one, other) => (one.id < other.id ? -1 : 1))
}

/** Undefined if there is none. */
export function readSchedule(
  store: Store,
  { tenant, actor, id }: Pick<StoredSchedule, 'tenant' | 'actor' | 'id'>,
): StoredSchedule | undefined {
  const [found] = store.documents({ tenant, kind: 'schedule', group: actor, id })
  return found?.value as unknown as StoredSchedule | undefined
}

/** One that goes with its session goes with its process, too. */
export function isKept(store: Store, { durable, writer }: StoredSchedule): boolean {
  return durable || store.lives(writer)
}

/** The last runs of a schedule, the newest first. */
export function readRuns(store: Store, { tenant, id }: Pick<StoredSchedule, 'tenant' | 'id'>): StoredRun[] {
  return store
    .documents({ tenant, kind: 'schedule_run', group: id, newestFirst: true })
    .map(({ value }) => value as unknown as StoredRun)
}

/** The run of a schedule that goes on or waits. */
export function readCurrent(
  store: Store,
  { tenant, id, current }: Pick<StoredSchedule, 'tenant' | 'id' | 'current'>,
): StoredRun | undefined {
  if (current === null) return undefined
  const [found] = store.documents({ tenant, kind: 'schedule_run', group: id, id: current })
  return found?.value as unknown as StoredRun | undefined
}

/** Writes a schedule over this one; undefined forgets it, null says that there is none. */
export function changeSchedule(was: StoredSchedule, next: StoredSchedule | undefined): DocumentChange {
  const { tenant, actor: group, id } = was
  return { tenant, kind: 'schedule', group, id, value: toJson(next), was: toJson(was) ?? null }
}

export function addSchedule(next: StoredSchedule): DocumentChange {
  return { ...changeSchedule(next, next), was: null }
}

/** Writes a run over this one; null says that there is none. */
export function changeRun(tenant: string, was: StoredRun | null, next: StoredRun): DocumentChange {
  const { schedule: group, id } = next
  return {
    tenant,
    kind: 'schedule_run',
    group,
    id,
    value: toJson(next),
    was: was === null ? null : (toJson(was) ?? null),
  }
}

export function forgetRun(tenant: string, { schedule: group, id }: StoredRun): DocumentChange {
  return { tenant, kind: 'schedule_run', group, id, value: undefined }
}

/** As it is shown. */
export function toSchedule(store: Store, stored: StoredSchedule): Schedule {
  const { id, tenant, actor, role, mode, name, schedule, timeZone, work, missed, overlap } = stored
  const { maxRuns, until, durable, createdAt, runs, skipped } = stored
  const [last] = readRuns(store, stored)
  const next = stored.queuedAt ?? stored.nextAt
  return {
    id,
    tenant,
    actor,
    role,
    mode,
    name,
    schedule,
    timeZone,
    work,
    missed,
    overlap,
    ...(maxRuns !== undefined && { maxRuns }),
    ...(until !== undefined && { until }),
    durable,
    createdAt,
    ...(next !== null && { nextAt: next }),
    runs,
    skipped,
    ...(last !== undefined && { lastRun: toRun(last) }),
  }
}

export function toRun({
  id,
  schedule,
  dueAt,
  startedAt,
  endedAt,
  state,
  summary,
  error,
}: StoredRun): ScheduleRun {
  return {
    id,
    schedule,
    dueAt,
    startedAt,
    ...(endedAt !== undefined && { endedAt }),
    state,
    ...(summary !== undefined && { summary }),
    ...(error !== undefined && { error }),
  }
}

function toJson(value: StoredSchedule | StoredRun | undefined): Json | undefined {
  return value === undefined ? undefined : (JSON.parse(JSON.stringify(value)) as Json)
}
