import type { Schedule, ScheduleRun } from '../../contract/base/schedules.ts'
import { showTime } from '../../kit/time/show-time.ts'
import { showLine, showSafely } from '../base/show-safely.ts'

/** A schedule in one line: which, when, what, and how it went. */
export function toScheduleRow(schedule: Schedule): string {
  const { id, name, timeZone, nextAt, lastRun, actor } = schedule
  const next = nextAt === undefined ? 'ended' : `next ${showTime(nextAt, timeZone)}`
  const last = lastRun === undefined ? 'never ran' : `last ${lastRun.state}`
  return showLine(`${id}  ${name}  "${schedule.schedule}" in ${timeZone}  ${next}  ${last}  for ${actor}`)
}

/** A schedule and its runs, with nothing that could drive the terminal, as lines that each end. */
export function toSchedulePage(schedule: Schedule, runs: readonly ScheduleRun[]): string {
  const { name, work, actor, tenant, role, timeZone, missed, overlap, maxRuns, until, durable } = schedule
  const next = schedule.nextAt === undefined ? 'none: it has ended' : showTime(schedule.nextAt, timeZone)
  const rows: (readonly [name: string, value: string])[] = [
    ['name', name],
    ...('tool' in work
      ? ([
          ['calls', work.tool],
          ['with', JSON.stringify(work.input)],
        ] as const)
      : ([['prompt', work.prompt]] as const)),
    ['at', `"${schedule.schedule}" in ${timeZone}`],
    ['next', next],
    ['for', `${actor} of ${tenant}, as ${role}`],
    ['missed', missed === 'once' ? 'one run for all times' : 'no run'],
    ['overlap', overlap === 'skip' ? 'no run' : 'one run when the one before has ended'],
    ...(maxRuns === undefined ? [] : [['ends', `after ${maxRuns} runs`] as const]),
    ...(until === undefined ? [] : [['until', showTime(until, timeZone)] as const]),
    ['durable', durable ? 'yes' : 'no: it ends with its session'],
    ['runs', `${schedule.runs}, left out ${schedule.skipped}`],
  ]
  const lines = [
    schedule.id,
    ...rows.map(
      ([title, value]) => `  ${title.padEnd(8)} ${showSafely(value).replaceAll('\n', '\n           ')}`,
    ),
    ...(runs.length === 0 ? [] : ['']),
    ...runs.map((run) => `  ${toRunLine(run)}`),
  ]
  return `${lines.join('\n')}\n`
}

/** A run in one line. */
export function toRunLine({ id, dueAt, state, summary, error }: ScheduleRun): string {
  const what = error === undefined ? (summary ?? '') : `${error.code} (${error.reason}): ${error.message}`
  const waits = state === 'waiting' ? 'for a person: "handrail approvals"' : what
  return showLine(`${id}  for ${new Date(dueAt).toISOString()}  ${state}${waits === '' ? '' : `  ${waits}`}`)
}
