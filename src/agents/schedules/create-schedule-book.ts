import { ToolFailure } from '../../contract/base/errors.ts'
import type {
  NewSchedule,
  Schedule,
  ScheduleBook,
  ScheduleCaller,
} from '../../contract/services/schedules.ts'
import type { DocumentChange } from '../../contract/documents.ts'
import type { Store } from '../../contract/store.ts'
import { isDocumentChanged } from '../../kit/result/is-document-changed.ts'
import { newId } from '../../kit/new-id.ts'
import {
  addSchedule,
  changeSchedule,
  forgetRun,
  readRuns,
  readSchedule,
  readSchedules,
  toSchedule,
  type StoredSchedule,
} from './stored.ts'

const mostOfActor = 100
const mostOfTenant = 1000

/** The schedules in a store. What computes times is loaded with the first schedule that is made. */
export function createScheduleBook({
  store,
  now,
  logError,
}: {
  store: Store
  now: () => number
  logError: (cause: unknown) => void
}): ScheduleBook {
  const examine = async (wish: NewSchedule, caller: ScheduleCaller) => {
    const { checkWish } = await import('./check-wish.ts')
    return checkWish(wish, caller, now())
  }
  return {
    open: (caller) => ({
      examine: (wish) => examine(wish, caller),
      async create(wish) {
        const { timeZone, next } = await examine(wish, caller)
        const [nextAt = null] = next
        const schedule = toStored(wish, { caller, store, now: now(), timeZone, nextAt })
        await add(schedule, { store, caller })
        if (!schedule.durable) caller.onClosed(() => void deleteSchedule(store, schedule).catch(logError))
        return toSchedule(store, schedule)
      },
      list: () => readSchedules(store, caller.tenant, caller.actor).map((each) => toSchedule(store, each)),
      find: (id) => toSchedule(store, findOwn(store, caller, id)),
      async delete(id) {
        const found = findOwn(store, caller, id)
        if (caller.ended()) throw tooLate()
        const deleted = await deleteSchedule(store, found)
        if (deleted === undefined) throw unknownSchedule(id)
        return deleted
      },
    }),
  }
}

function toStored(
  { name, schedule, work, missed, overlap, maxRuns, until, durable }: NewSchedule,
  about: { caller: ScheduleCaller; store: Store; now: number; timeZone: string; nextAt: number | null },
): StoredSchedule {
  const { caller, store, now, timeZone, nextAt } = about
  const { tenant, actor, role, mode, session, standingConsents } = caller
  const identity = 'tool' in work ? caller.identify(work.tool) : undefined
  return {
    id: newId('schedule', now),
    tenant,
    actor,
    role,
    mode,
    session,
    standingConsents,
    name,
    schedule: schedule.trim().split(/\s+/).join(' '),
    timeZone,
    work,
    missed: missed ?? 'once',
    overlap: overlap ?? 'skip',
    durable: durable ?? true,
    ...(maxRuns !== undefined && { maxRuns }),
    ...(until !== undefined && { until }),
    ...(identity !== undefined && { identity }),
    writer: store.writer,
    // A composition or a program calls tools as well.
    tools: [...new Set([...('tool' in work ? [work.tool] : []), ...caller.tools()])],
    createdAt: now,
    seenAt: now,
    nextAt,
    current: null,
    queuedAt: null,
    runs: 0,
    skipped: 0,
  }
}

/** Adds one, if there is room. What others add at the same time counts. */
async function add(
  schedule: StoredSchedule,
  { store, caller }: { store: Store; caller: ScheduleCaller },
): Promise<void> {
  const { tenant, actor } = schedule
  for (;;) {
    if (caller.ended()) throw tooLate()
    const [book] = store.documents({ tenant, kind: 'schedule_book', group: 'book', id: 'book' })
    const all = readSchedules(store, tenant)
    const own = all.filter((each) => each.actor === actor)
    if (own.length >= mostOfActor || all.length >= mostOfTenant)
      throw new ToolFailure({
        reason: 'too_many_schedules',
        message: `There are ${own.length} schedules of this user and ${all.length} of this tenant, of ${mostOfActor} and ${mostOfTenant} at most. Delete one with cron.delete.`,
      })
    const made = typeof book?.value === 'number' ? book.value : 0
    const counted: DocumentChange = {
      tenant,
      kind: 'schedule_book',
      group: 'book',
      id: 'book',
      value: made + 1,
      was: book?.value ?? null,
    }
    try {
      return await store.append([], { documents: [addSchedule(schedule), counted] })
    } catch (error) {
      if (!isDocumentChanged(error)) throw error
    }
  }
}

/** Forgets a schedule and its runs; undefined if there is none. One that goes on ends by itself. */
export async function deleteSchedule(
  store: Store,
  about: Pick<StoredSchedule, 'tenant' | 'actor' | 'id'>,
): Promise<Schedule | undefined> {
  for (;;) {
    const found = readSchedule(store, about)
    if (found === undefined) return undefined
    const deleted = toSchedule(store, found)
    const over = readRuns(store, found).filter(({ id }) => id !== found.current)
    const documents = [changeSchedule(found, undefined), ...over.map((run) => forgetRun(found.tenant, run))]
    try {
      await store.append([], { documents })
      return deleted
    } catch (error) {
      if (!isDocumentChanged(error)) throw error
    }
  }
}

function findOwn(store: Store, { tenant, actor }: ScheduleCaller, id: string): StoredSchedule {
  const found = readSchedules(store, tenant, actor).find((each) => each.id === id)
  if (found === undefined) throw unknownSchedule(id)
  return found
}

function unknownSchedule(id: string): ToolFailure {
  return new ToolFailure({
    reason: 'unknown_schedule',
    message: `This user has no schedule "${id}". cron.list shows those that there are.`,
  })
}

function tooLate(): ToolFailure {
  return new ToolFailure({
    code: 'TOOL.ABORTED',
    reason: 'aborted_by_user',
    message: 'The call ended before its change could be made. Nothing was changed.',
  })
}
