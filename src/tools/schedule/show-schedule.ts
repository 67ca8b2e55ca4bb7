import type { Json, JsonObject } from '../../contract/base/json.ts'
import type { Schedule, ScheduledWork, ScheduleRun } from '../../contract/base/schedules.ts'
import { showTime } from '../../kit/time/show-time.ts'

const textField = { type: 'string' } as const
const timeField = { type: 'string', description: 'A date and time of ISO 8601, in UTC.' } as const

const runSchema = {
  type: 'object',
  properties: {
    run_id: textField,
    due_at: timeField,
    started_at: timeField,
    ended_at: timeField,
    state: { type: 'string', enum: ['running', 'waiting', 'ok', 'failed'] },
    summary: textField,
    reason: textField,
    message: textField,
  },
  required: ['run_id', 'due_at', 'started_at', 'state'],
  additionalProperties: false,
} as const

/** A schedule in results. */
export const scheduleSchema = {
  type: 'object',
  properties: {
    id: textField,
    name: textField,
    schedule: textField,
    time_zone: textField,
    tool: textField,
    input: { type: 'object', properties: {}, additionalProperties: true },
    prompt: textField,
    missed: { type: 'string', enum: ['once', 'skip'] },
    overlap: { type: 'string', enum: ['skip', 'queue'] },
    max_runs: { type: 'integer' },
    until: timeField,
    durable: { type: 'boolean' },
    next_at: timeField,
    runs: { type: 'integer' },
    skipped: { type: 'integer' },
    last_run: runSchema,
  },
  required: ['id', 'name', 'schedule', 'time_zone', 'missed', 'overlap', 'durable', 'runs', 'skipped'],
  additionalProperties: false,
} as const

export function scheduleData(schedule: Schedule): JsonObject {
  const {
    id,
    name,
    timeZone,
    work,
    missed,
    overlap,
    maxRuns,
    until,
    durable,
    nextAt,
    runs,
    skipped,
    lastRun,
  } = schedule
  return {
    id,
    name,
    schedule: schedule.schedule,
    time_zone: timeZone,
    ...work,
    missed,
    overlap,
    durable,
    runs,
    skipped,
    ...(maxRuns !== undefined && { max_runs: maxRuns }),
    ...(until !== undefined && { until: toIso(until) }),
    ...(nextAt !== undefined && { next_at: toIso(nextAt) }),
    ...(lastRun !== undefined && { last_run: runData(lastRun) }),
  }
}

function runData({ id, dueAt, startedAt, endedAt, state, summary, error }: ScheduleRun): Json {
  return {
    run_id: id,
    due_at: toIso(dueAt),
    started_at: toIso(startedAt),
    ...(endedAt !== undefined && { ended_at: toIso(endedAt) }),
    state,
    ...(summary !== undefined && { summary }),
    ...(error !== undefined && { reason: error.reason, message: error.message }),
  }
}

/** A schedule in one line. */
export function scheduleLine(schedule: Schedule): string {
  const { nextAt, lastRun, timeZone } = schedule
  const next = nextAt === undefined ? 'ended' : `next ${showTime(nextAt, timeZone)}`
  const last = lastRun === undefined ? 'never ran' : `last ${lastRun.state}`
  return `${describeSchedule(schedule)}; ${next}, ${last}`
}

/** What it does and when, which never changes. */
export function describeSchedule({ id, name, schedule, timeZone, work }: Schedule): string {
  return `${id}  ${name}: ${workLine(work)}, at "${schedule}" in ${timeZone}`
}

/** What it does each time, in a few words. */
function workLine(work: ScheduledWork): string {
  if ('tool' in work) return work.tool
  const [first = ''] = work.prompt.split('\n')
  return `an agent: ${first.length <= 80 ? first : `${first.slice(0, 80)}…`}`
}

function toIso(at: number): string {
  return new Date(at).toISOString()
}
