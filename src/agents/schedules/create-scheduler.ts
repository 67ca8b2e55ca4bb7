import { setTimeout as sleep } from 'node:timers/promises'
import type { Schedule, ScheduleRun } from '../../contract/base/schedules.ts'
import { SetupError } from '../../contract/base/errors.ts'
import type { DocumentChange } from '../../contract/documents.ts'
import type { PendingApprovals } from '../../contract/pending-approval.ts'
import type { RuntimeSchedules } from '../../contract/scheduler.ts'
import type { Store } from '../../contract/store.ts'
import { isDocumentChanged } from '../../kit/result/is-document-changed.ts'
import { messageOf } from '../../kit/text/message-of.ts'
import { newId } from '../../kit/new-id.ts'
import { moveOn } from './move-on.ts'
import { deleteSchedule } from './create-schedule-book.ts'
import { makeRun, type RunMaker } from './make-run.ts'
import { createRunnerLease, type RunnerLease } from './runner-lease.ts'
import {
  changeRun,
  changeSchedule,
  forgetRun,
  isKept,
  keptRuns,
  readCurrent,
  readRuns,
  readSchedule,
  readSchedules,
  toRun,
  toSchedule,
  type StoredRun,
  type StoredSchedule,
} from './stored.ts'

/** What schedules are run on. */
export interface SchedulerPorts extends RunMaker {
  readonly store: Store
  readonly approvals: Pick<PendingApprovals, 'find'>
  readonly now: () => number
  readonly logError: (cause: unknown) => void
}

const everyMs = 1000
/** So many runs go on at once in a process. */
const mostAtOnce = 16

/** The schedules of a store, and what runs them. */
export class Scheduler implements RuntimeSchedules {
  readonly #ports: SchedulerPorts
  /** Ids of the runs that this process has claimed, also of those that wait for their turn. */
  readonly #claimed = new Set<string>()
  /** The runs that go on here. */
  readonly #active = new Set<Promise<unknown>>()
  readonly #closing = new AbortController()
  /** What was told last of what went wrong: it may go wrong again every second. */
  #told = ''
  readonly #started = new Set<{ close(): Promise<void> }>()

  constructor(ports: SchedulerPorts) {
    this.#ports = ports
  }

  list({ tenant = 'local' }: { tenant?: string } = {}): readonly Schedule[] {
    const { store } = this.#ports
    return readSchedules(store, tenant).map((each) => toSchedule(store, each))
  }

  find(id: string, tenant = 'local'): Schedule | undefined {
    const found = this.#read(id, tenant)
    return found && toSchedule(this.#ports.store, found)
  }

  runs(id: string, tenant = 'local'): readonly ScheduleRun[] {
    return readRuns(this.#ports.store, { id, tenant }).map(toRun)
  }

  async delete(id: string, tenant = 'local'): Promise<Schedule> {
    const found = this.#read(id, tenant)
    const deleted = found && (await deleteSchedule(this.#ports.store, found))
    if (deleted === undefined) throw unknownSchedule(id)
    return deleted
  }

  async run(id: string, tenant = 'local'): Promise<ScheduleRun> {
    const { now } = this.#ports
    for (;;) {
      const found = this.#read(id, tenant)
      if (found === undefined) throw unknownSchedule(id)
      if (found.current !== null)
        throw new SetupError(
          'schedule_running',
          `A run of the schedule "${id}" goes on or waits for a person: ${found.current}. Run it again when that has ended.`,
        )
      const claimed = await this.#claim(found, { next: found, dueAt: now() })
      if (claimed !== undefined) return toRun(await this.#go(claimed.schedule, claimed.run))
    }
  }

  start(): { close(): Promise<void> } {
    const closing = new AbortController()
    const signal = AbortSignal.any([closing.signal, this.#closing.signal])
    const lease = createRunnerLease(this.#ports)
    const loop = this.#loop(lease, signal)
    const runner = {
      close: async () => {
        closing.abort()
        this.#started.delete(runner)
        await loop
        await Promise.allSettled(this.#active)
      },
    }
    this.#started.add(runner)
    return runner
  }

  /** Ends everything that goes on here. */
  async close(): Promise<void> {
    this.#closing.abort()
    await Promise.all([...this.#started].map((runner) => runner.close()))
    await Promise.allSettled(this.#active)
  }

  #read(id: string, tenant: string): StoredSchedule | undefined {
    return readSchedules(this.#ports.store, tenant).find((each) => each.id === id)
  }

  async #loop(lease: RunnerLease, signal: AbortSignal): Promise<void> {
    const { logError } = this.#ports
    while (!signal.aborted) {
      await this.#round(lease, signal).catch((error: unknown) => this.#tell(error))
      await sleep(everyMs, undefined, { signal }).catch(() => undefined)
    }
    await lease.release().catch(logError)
  }

  #tell(error: unknown): void {
    const message = messageOf(error)
    if (message !== this.#told) this.#ports.logError(error)
    this.#told = message
  }

  async #round(lease: RunnerLease, signal: AbortSignal): Promise<void> {
    const { store } = this.#ports
    if (!(await lease.hold())) return
    for (const tenant of store.tenants())
      for (const { value } of store.documents({ tenant, kind: 'schedule' })) {
        if (signal.aborted) return
        const schedule = value as unknown as StoredSchedule
        await this.#look(schedule, lease, signal).catch((error: unknown) => {
          // Another process was faster: the next round sees what it made of it.
          if (!isDocumentChanged(error)) this.#tell(error)
        })
      }
  }

  /** What one schedule needs now. */
  async #look(schedule: StoredSchedule, lease: RunnerLease, signal: AbortSignal): Promise<void> {
    const { store, now } = this.#ports
    if (!isKept(store, schedule)) return void (await deleteSchedule(store, schedule))
    await this.#takeUp(schedule, lease, signal)
    const { cronTimes } = await import('./cron-times.ts')
    const { schedule: next, dueAt } = moveOn(schedule, now(), cronTimes(schedule.schedule, schedule.timeZone))
    if (dueAt !== undefined) {
      const claimed = await this.#claim(schedule, { next, dueAt, lease })
      if (claimed !== undefined) this.#start(claimed, signal)
    } else if (next !== schedule)
      await store.append([], { documents: [changeSchedule(schedule, next), lease.fence()] })
  }

  /** Goes on with a run that no process makes any more, or whose person has answered. */
  async #takeUp(schedule: StoredSchedule, lease: RunnerLease, signal: AbortSignal): Promise<void> {
    const { store } = this.#ports
    const run = readCurrent(store, schedule)
    if (run === undefined || this.#claimed.has(run.id) || !this.#mayGoOn(run)) return
    const taken: StoredRun = { ...run, state: 'running', writer: store.writer }
    const documents = [changeRun(schedule.tenant, run, taken), lease.fence()]
    await this.#writeClaim(run.id, documents)
    this.#start({ schedule, run: taken }, signal)
  }

  #mayGoOn({ state, waits, writer }: StoredRun): boolean {
    const { store, approvals } = this.#ports
    if (state === 'waiting') return waits.some((id) => approvals.find(id)?.state !== 'waiting')
    return writer === store.writer || !store.lives(writer)
  }

  /** Starts a run: what it is for and that it has started is written at once, or nothing is. Undefined if another process was faster. */
  async #claim(
    was: StoredSchedule,
    { next, dueAt, lease }: { next: StoredSchedule; dueAt: number; lease?: RunnerLease },
  ): Promise<{ schedule: StoredSchedule; run: StoredRun } | undefined> {
    const { store, now } = this.#ports
    const at = now()
    const id = newId('run', at)
    const runs = next.runs + 1
    const isLast = next.maxRuns !== undefined && runs >= next.maxRuns
    const schedule: StoredSchedule = {
      ...next,
      current: id,
      runs,
      ...(isLast && { nextAt: null, queuedAt: null }),
    }
    const run: StoredRun = {
      id,
      schedule: was.id,
      dueAt,
      startedAt: at,
      state: 'running',
      writer: store.writer,
      waits: [],
    }
    const documents = [changeSchedule(was, schedule), changeRun(was.tenant, null, run)]
    try {
      await this.#writeClaim(id, lease === undefined ? documents : [...documents, lease.fence()])
      return { schedule, run }
    } catch (error) {
      if (isDocumentChanged(error)) return undefined
      throw error
    }
  }

  /** The run is this process's own before the next look at the store can see it. */
  async #writeClaim(run: string, documents: readonly DocumentChange[]): Promise<void> {
    this.#claimed.add(run)
    try {
      await this.#ports.store.append([], { documents })
    } catch (error) {
      this.#claimed.delete(run)
      throw error
    }
  }

  #start({ schedule, run }: { schedule: StoredSchedule; run: StoredRun }, signal: AbortSignal): void {
    this.#go(schedule, run, signal).catch((error: unknown) => this.#tell(error))
  }

  async #go(schedule: StoredSchedule, run: StoredRun, signal = this.#closing.signal): Promise<StoredRun> {
    while (this.#active.size >= mostAtOnce) await Promise.race(this.#active)
    const making = this.#make(schedule, run, signal)
    const over = making.catch(() => undefined).finally(() => this.#active.delete(over))
    this.#active.add(over)
    try {
      return await making
    } finally {
      this.#claimed.delete(run.id)
    }
  }

  async #make(schedule: StoredSchedule, run: StoredRun, signal: AbortSignal): Promise<StoredRun> {
    if (signal.aborted) return run
    const progress = await makeRun({ schedule, run, maker: this.#ports, signal })
    return progress.state === 'running' ? run : this.#keep(schedule, run, progress)
  }

  /** Writes what has become of a run, and with its end lets the schedule go on. */
  async #keep(
    schedule: StoredSchedule,
    before: StoredRun,
    progress: Omit<Partial<StoredRun>, 'id'>,
  ): Promise<StoredRun> {
    const { store, now } = this.#ports
    const { step: _, ...rest } = before
    const isOver = progress.state !== 'waiting'
    const run: StoredRun = { ...rest, ...progress, ...(isOver && { endedAt: now() }) }
    for (;;) {
      const current = readSchedule(store, schedule)
      const documents: DocumentChange[] =
        current === undefined
          ? [forgetRun(schedule.tenant, before)]
          : [changeRun(schedule.tenant, before, run), ...(isOver ? this.#letGoOn(current, run) : [])]
      try {
        await store.append([], { documents })
        return run
      } catch (error) {
        if (!isDocumentChanged(error) || !this.#isOwn(schedule, before)) throw error
      }
    }
  }

  #letGoOn(schedule: StoredSchedule, { id }: StoredRun): DocumentChange[] {
    const { store } = this.#ports
    const next = schedule.current === id ? { ...schedule, current: null } : schedule
    const old = readRuns(store, schedule).filter((run) => run.id !== id)
    return [
      changeSchedule(schedule, next),
      ...old.slice(keptRuns - 1).map((run) => forgetRun(schedule.tenant, run)),
    ]
  }

  /** Whether the run is still made here; else another process has taken it over. */
  #isOwn(schedule: StoredSchedule, { id }: StoredRun): boolean {
    const { store } = this.#ports
    const stored = readCurrent(store, { ...schedule, current: id })
    return stored === undefined || stored.writer === store.writer
  }
}

function unknownSchedule(id: string): SetupError {
  return new SetupError(
    'unknown_schedule',
    `There is no schedule "${id}" of this tenant. "handrail schedules" lists those that there are.`,
  )
}
