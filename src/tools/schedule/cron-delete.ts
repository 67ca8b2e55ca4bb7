import type { Tool } from '../../contract/base/tool.ts'
import { toolOutput } from '../../kit/result/tool-output.ts'
import { showControls } from '../../kit/text/show-controls.ts'
import { defineBuiltin } from '../define-builtin.ts'
import { changesSchedules } from './manifest.ts'
import { describeSchedule, scheduleData, scheduleSchema } from './show-schedule.ts'

const input = {
  type: 'object',
  properties: { id: { type: 'string', minLength: 1, maxLength: 200, description: 'As cron.list shows it.' } },
  required: ['id'],
  additionalProperties: false,
} as const

/** `cron.delete`: ends a schedule. */
export function cronDeleteTool(): Tool {
  return defineBuiltin({
    name: 'cron.delete',
    title: 'Delete schedule',
    description: 'Deletes a schedule of this user, and what is kept of its runs. A run that goes on goes on.',
    ...changesSchedules,
    input,
    output: {
      type: 'object',
      properties: { schedule: scheduleSchema },
      required: ['schedule'],
      additionalProperties: false,
    },
    compatible: { name: 'CronDelete', inputSchema: input, toCanonical: (given) => given },
    decode: ({ id }) => id,
    async plan(id, { schedules }) {
      const schedule = schedules?.find(id)
      return {
        operations: [{ kind: 'other', resource: `handrail:schedule:${id}` }],
        preview: {
          kind: 'text',
          title: `Delete schedule ${schedule?.name ?? id}`,
          body: showControls(schedule === undefined ? id : describeSchedule(schedule)),
        },
        planned: null,
      }
    },
    async run(id, { schedules }) {
      const schedule = await schedules.delete(id)
      return toolOutput({
        content: [{ type: 'text', text: `Deleted: ${schedule.name}` }],
        summary: `deleted ${schedule.name}`,
        data: { schedule: scheduleData(schedule) },
      })
    },
  })
}
