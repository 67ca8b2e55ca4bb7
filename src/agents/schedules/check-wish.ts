import { ToolFailure } from '../../contract/base/errors.ts'
import type { Issue } from '../../contract/base/json.ts'
import type { NewSchedule, ScheduleCaller } from '../../contract/services/schedules.ts'
import { cronTimes, findExpressionIssue, findZone } from './cron-times.ts'

/** A wish that can be granted. */
export interface CheckedWish {
  readonly timeZone: string
  /** The next few times, at least one. */
  readonly next: readonly number[]
  readonly decision: string
}

const shownTimes = 5
/** Codes of what is wrong with a call that is not made at all. What goes wrong with it otherwise may go well when it is made. */
const refusing: readonly string[] = [
  'SCHEMA.VALIDATION_FAILED',
  'POLICY.DENY_TOOL',
  'AUTH.FORBIDDEN',
  'AUTH.UNAUTHENTICATED',
]

/** Rejects with a ToolFailure for what cannot be scheduled, with every issue of it. */
export async function checkWish(
  wish: NewSchedule,
  caller: ScheduleCaller,
  now: number,
): Promise<CheckedWish> {
  if (caller.isBelow)
    throw new ToolFailure({
      code: 'POLICY.DENY_TOOL',
      reason: 'role_denied',
      message:
        'A session that another one opened makes no schedules, as they would outlive it. Ask the agent that started this one.',
    })
  const timeZone = findZone(wish.timeZone)
  const expression = findExpressionIssue(wish.schedule)
  const { work } = wish
  const isScheduling = 'tool' in work && work.tool.startsWith('cron.')
  const issues: Issue[] = [
    ...(expression === undefined ? [] : [issue('/schedule', expression)]),
    ...(timeZone === undefined
      ? [issue('/time_zone', 'There is no such time zone. Name one as IANA does, such as "Europe/Berlin".')]
      : []),
    ...(isScheduling ? [issue('/tool', 'A schedule makes, lists and deletes no schedules.')] : []),
  ]
  const next = timeZone === undefined || expression !== undefined ? [] : timesOf({ ...wish, timeZone }, now)
  if (issues.length === 0 && next.length === 0)
    issues.push(issue('/until', 'No time comes before that. Name a later one, with its date and time zone.'))
  if (issues.length > 0 || timeZone === undefined)
    throw new ToolFailure({
      code: 'SCHEMA.VALIDATION_FAILED',
      reason: 'invalid_input',
      message: issues.map(({ pointer, message }) => `${pointer}: ${message}`).join(' '),
      issues,
    })
  if (caller.hasSecret(wish))
    throw new ToolFailure({
      reason: 'secret_in_schedule',
      message:
        'A schedule keeps what it runs, and a secret stands in this one. Leave the secret out; a tool gets those that its manifest names.',
    })
  return { timeZone, next, decision: await decide(wish, caller) }
}

async function decide({ work }: NewSchedule, caller: ScheduleCaller): Promise<string> {
  if (!('tool' in work)) return 'each call of the agent is decided when it makes it'
  const { words, error, bySkill } = await caller.decide(work.tool, work.input)
  if (error === undefined || !refusing.includes(error.code)) {
    if (bySkill) throw askedBySkill(work.tool)
    return words
  }
  const { code, reason, message, issues } = error
  throw new ToolFailure({
    code,
    reason,
    message: `Such a call would not run: ${message}`,
    ...(issues !== undefined && {
      issues: issues.map((each) => ({ ...each, pointer: `/input${each.pointer}` })),
    }),
  })
}

/** Runs follow no skill, so that one would do unasked what the session has to ask for. */
function askedBySkill(tool: string): ToolFailure {
  return new ToolFailure({
    code: 'POLICY.DENY_TOOL',
    reason: 'rule_denied',
    message: `Such a call of "${tool}" asks, as a skill that this session follows says so, and runs of a schedule follow no skill. Finish the task with the skill first.`,
  })
}

function timesOf({ schedule, timeZone, until }: NewSchedule & { timeZone: string }, now: number): number[] {
  const times = cronTimes(schedule, timeZone)
  const next: number[] = []
  for (let at = times.next(now); at !== undefined && next.length < shownTimes; at = times.next(at)) {
    if (until !== undefined && at >= until) break
    next.push(at)
  }
  return next
}

function issue(pointer: string, message: string): Issue {
  return { pointer, code: 'wrong_value', message }
}
