import type { Tool } from '../../contract/base/tool.ts'
import { toolOutput } from '../../kit/result/tool-output.ts'
import { defineBuiltin } from '../define-builtin.ts'
import { looksAtSchedules } from './manifest.ts'
import { scheduleData, scheduleLine, scheduleSchema } from './show-schedule.ts'

const input = { type: 'object', properties: {}, additionalProperties: false } as const

/** `cron.list`: the schedules of this user. */
export function cronListTool(): Tool {
  return defineBuiltin({
    name: 'cron.list',
    title: 'List schedules',
    description:
      'Shows the schedules of this user: what each runs, at which times, when next, and how its last run ended.',
    ...looksAtSchedules,
    input,
    output: {
      type: 'object',
      properties: { schedules: { type: 'array', items: scheduleSchema } },
      required: ['schedules'],
      additionalProperties: false,
    },
    compatible: { name: 'CronList', inputSchema: input, toCanonical: () => ({}) },
    decode: () => null,
    plan: async () => ({
      operations: [{ kind: 'other', resource: 'handrail:schedule:*' }],
      planned: null,
    }),
    async run(_, { schedules }) {
      const all = schedules.list()
      const text = all.length === 0 ? 'There are no schedules.' : all.map(scheduleLine).join('\n')
      return toolOutput({
        content: [{ type: 'text', text }],
        summary: `${all.length} schedules`,
        data: { schedules: all.map(scheduleData) },
      })
    },
  })
}
