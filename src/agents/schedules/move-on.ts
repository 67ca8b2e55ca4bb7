import type { CronTimes } from './cron-times.ts'
import type { StoredSchedule } from './stored.ts'

/** A run that starts so long after its time was not missed. */
export const graceMs = 60_000
/** A clock that was set back so far was wrong before: times are counted by what it says from then on. */
const setBackMs = 3 * 3_600_000

/** What time has made of a schedule. */
export interface Moved {
  /** The same object if nothing has changed. */
  readonly schedule: StoredSchedule
  /** The time of the run that starts now. */
  readonly dueAt?: number
}

/** Moves a schedule on to this time. */
export function moveOn(before: StoredSchedule, now: number, times: CronTimes): Moved {
  let schedule = before
  if (now < before.seenAt - setBackMs && before.nextAt !== null)
    schedule = { ...schedule, seenAt: now, nextAt: nextAt(schedule, now, times) }
  let dueAt: number | undefined
  if (schedule.nextAt !== null && schedule.nextAt <= now) {
    dueAt = findDue(schedule, schedule.nextAt, { now, times })
    schedule = { ...schedule, seenAt: now, nextAt: nextAt(schedule, now, times) }
    if (dueAt === undefined) schedule = { ...schedule, skipped: schedule.skipped + 1 }
  }
  if (isOver(schedule, now)) {
    const isOpen = schedule.nextAt !== null || schedule.queuedAt !== null
    return { schedule: isOpen ? { ...schedule, nextAt: null, queuedAt: null } : schedule }
  }
  if (schedule.current !== null)
    return { schedule: dueAt === undefined ? schedule : overlap(schedule, dueAt) }
  dueAt = schedule.queuedAt ?? dueAt
  if (dueAt === undefined) return { schedule }
  return { schedule: { ...schedule, queuedAt: null }, dueAt }
}

/** The time that a run starts for, of those from `first` to now: one that is hardly past, or for all that were missed the first. */
function findDue(
  { missed }: StoredSchedule,
  first: number,
  { now, times }: { now: number; times: CronTimes },
): number | undefined {
  const recent = times.next(Math.max(first, now - graceMs) - 1)
  if (recent !== undefined && recent <= now) return recent
  return missed === 'once' ? first : undefined
}

/** A time that has come while the run before goes on. */
function overlap(schedule: StoredSchedule, dueAt: number): StoredSchedule {
  if (schedule.overlap === 'queue' && schedule.queuedAt === null) return { ...schedule, queuedAt: dueAt }
  return { ...schedule, skipped: schedule.skipped + 1 }
}

function isOver({ maxRuns, runs, until }: StoredSchedule, now: number): boolean {
  return (maxRuns !== undefined && runs >= maxRuns) || (until !== undefined && now >= until)
}

/** The first time behind this one at which a run may start; null if there is none. */
export function nextAt(
  { until }: Pick<StoredSchedule, 'until'>,
  after: number,
  times: CronTimes,
): number | null {
  const next = times.next(after)
  return next === undefined || (until !== undefined && next >= until) ? null : next
}
