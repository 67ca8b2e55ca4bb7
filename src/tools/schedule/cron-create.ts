import { ToolFailure } from '../../contract/base/errors.ts'
import type { NewSchedule, ScheduledWork, ScheduleOutlook } from '../../contract/base/schedules.ts'
import type { JsonObject } from '../../contract/base/json.ts'
import type { PlanContext, Preview } from '../../contract/base/plan.ts'
import type { CompatiblePresentation, Tool } from '../../contract/base/tool.ts'
import { toolOutput } from '../../kit/result/tool-output.ts'
import { showControls } from '../../kit/text/show-controls.ts'
import { showTime } from '../../kit/time/show-time.ts'
import { defineBuiltin } from '../define-builtin.ts'
import { changesSchedules } from './manifest.ts'
import { scheduleData, scheduleLine, scheduleSchema } from './show-schedule.ts'

const nameField = { type: 'string', minLength: 1, maxLength: 200 } as const
const expressionField = {
  type: 'string',
  minLength: 1,
  maxLength: 200,
  description:
    'Five fields of cron: minute, hour, day of the month, month, day of the week. If both days are given, either is enough.',
} as const
const zoneField = {
  type: 'string',
  maxLength: 100,
  description: 'IANA time zone, such as Europe/Berlin. Default: that of the machine.',
} as const
const promptField = { type: 'string', minLength: 1, maxLength: 32_768 } as const

const inputSchema = {
  type: 'object',
  properties: {
    name: nameField,
    schedule: expressionField,
    time_zone: zoneField,
    tool: { type: 'string', minLength: 1, maxLength: 200, description: 'Canonical name of a tool.' },
    input: {
      type: 'object',
      properties: {},
      additionalProperties: true,
      description: 'What the tool is called with.',
    },
    prompt: { ...promptField, description: 'What an agent is asked, in the place of a call.' },
    missed: {
      type: 'string',
      enum: ['once', 'skip'],
      default: 'once',
      description: 'Times at which nothing ran schedules: one run for all of them, or none.',
    },
    overlap: {
      type: 'string',
      enum: ['skip', 'queue'],
      default: 'skip',
      description:
        'A time that comes while the run before goes on: left out, or a run as soon as that has ended.',
    },
    max_runs: {
      type: 'integer',
      minimum: 1,
      maximum: 1_000_000,
      description: 'It ends after so many runs.',
    },
    until: {
      type: 'string',
      format: 'date-time',
      description: 'No run starts from then on. ISO 8601 with its time zone.',
    },
    durable: {
      type: 'boolean',
      default: true,
      description: 'False: it ends with this session.',
    },
  },
  required: ['name', 'schedule'],
  additionalProperties: false,
} as const

/** As models know it. */
const compatible: CompatiblePresentation = {
  name: 'CronCreate',
  description:
    'Creates a scheduled recurring task: at the times of the cron expression an agent works on the command, which is a prompt.',
  inputSchema: {
    type: 'object',
    properties: {
      name: nameField,
      schedule: expressionField,
      command: promptField,
      time_zone: zoneField,
      recurring: { type: 'boolean', description: 'False: it runs once.' },
      durable: { type: 'boolean' },
    },
    required: ['name', 'schedule', 'command'],
    additionalProperties: false,
  },
  toCanonical: ({ command, recurring, ...rest }) => ({
    ...rest,
    prompt: command ?? '',
    ...(recurring === false && { max_runs: 1 }),
  }),
}

/** `cron.create`: a call or an agent that runs at times. */
export function cronCreateTool(): Tool {
  return defineBuiltin({
    name: 'cron.create',
    title: 'Create schedule',
    description:
      'Makes a schedule: at the times that a cron expression names, a tool is called, or an agent works on a prompt. Give tool with its input, or prompt. Each run is decided anew by the policy of then, and waits for a person if that is to be asked. It is made as long as a process of the operator runs schedules.',
    ...changesSchedules,
    limits: { maxBytesIn: 256 * 1024 },
    input: inputSchema,
    output: {
      type: 'object',
      properties: { schedule: scheduleSchema },
      required: ['schedule'],
      additionalProperties: false,
    },
    compatible,
    decode({ tool, input, prompt, time_zone: timeZone, max_runs: maxRuns, until, ...rest }): NewSchedule {
      const work = toWork(tool, input as JsonObject | undefined, prompt)
      return { ...rest, timeZone, maxRuns, until: toTime(until), work }
    },
    plan: async (wish, { schedules }) => ({
      operations: [{ kind: 'other', resource: 'handrail:schedule:*' }],
      preview: toPreview(wish, await examine(schedules, wish)),
      planned: null,
    }),
    async run(wish, { schedules }) {
      const schedule = await schedules.create(wish)
      return toolOutput({
        content: [{ type: 'text', text: scheduleLine(schedule) }],
        summary: scheduleLine(schedule),
        data: { schedule: scheduleData(schedule) },
      })
    },
  })
}

function examine(schedules: PlanContext['schedules'], wish: NewSchedule): Promise<ScheduleOutlook> {
  if (schedules === undefined) throw new Error('The plan of a schedule has no schedules.')
  return schedules.examine(wish)
}

function toWork(
  tool: string | undefined,
  input: JsonObject | undefined,
  prompt: string | undefined,
): ScheduledWork {
  if (tool !== undefined && prompt === undefined) return { tool, input: input ?? {} }
  if (tool === undefined && prompt !== undefined && input === undefined) return { prompt }
  const message = 'Give either "tool" with its "input", or "prompt".'
  throw invalid([{ pointer: prompt === undefined ? '/tool' : '/prompt', code: 'one_of', message }])
}

function toTime(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const at = Date.parse(text)
  // Without a zone, it would mean another time on each machine.
  if (!Number.isNaN(at) && /(?:z|[+-]\d\d:\d\d)$/i.test(text)) return at
  const message = `"until" must be a date and time with its zone, such as 2027-01-31T18:00:00Z.`
  throw invalid([{ pointer: '/until', code: 'format', message }])
}

function invalid(issues: { pointer: string; code: string; message: string }[]): ToolFailure {
  return new ToolFailure({
    code: 'SCHEMA.VALIDATION_FAILED',
    reason: 'invalid_input',
    message: issues.map(({ pointer, message }) => `${pointer}: ${message}`).join(' '),
    issues,
  })
}

/** What will run, how often, and by which rules; the times and how it would be decided are as of now. */
function toPreview(wish: NewSchedule, { timeZone, next, decision }: ScheduleOutlook): Preview {
  const { name, schedule, work, missed = 'once', overlap = 'skip', maxRuns, until, durable = true } = wish
  const lines = [
    'tool' in work
      ? `Calls ${work.tool} with ${JSON.stringify(work.input, null, 2)}`
      : `Lets an agent work on this prompt:\n${work.prompt}`,
    '',
    `At "${schedule}" (minute, hour, day, month, day of the week) in ${timeZone}.`,
    `Times that were missed: ${missed === 'once' ? 'one run for all of them' : 'no run'}.`,
    `Times while the run before goes on: ${overlap === 'skip' ? 'no run' : 'one run when it has ended'}.`,
    ...(maxRuns === undefined ? [] : [`It ends after ${maxRuns} runs.`]),
    ...(until === undefined ? [] : [`It ends at ${new Date(until).toISOString()}.`]),
    durable ? 'It goes on when this session has ended.' : 'It ends with this session.',
    'Each run is decided anew by the policy of then.',
  ]
  const asOfNow = [
    'Next times:',
    ...next.map((at) => `- ${showTime(at, timeZone)}`),
    `As of now: ${decision}.`,
  ].join('\n')
  return { kind: 'text', title: `Create schedule ${name}`, body: showControls(lines.join('\n')), asOfNow }
}
