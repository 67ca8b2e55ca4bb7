import type { Tool } from '../../contract/tool/tool.ts'
import { toolOutput } from '../../kit/result/tool-output.ts'
import { defineBuiltin } from '../define-builtin.ts'
import { limitField, offsetField, taskStateField } from './fields.ts'
import { looksAtTasks, planLook } from './manifest.ts'
import { taskData, taskLine, taskSchema } from './show-task.ts'

/** `agent.task_list`: the tasks of the caller. */
export function taskListTool(): Tool {
  return defineBuiltin({
    name: 'agent.task_list',
    title: 'List tasks',
    description:
      'Lists the tasks of this user, of all sessions, the newest first. Those that have ended only with include_terminal, or if status names their end.',
    ...looksAtTasks,
    input: {
      type: 'object',
      properties: {
        status: taskStateField,
        include_terminal: { type: 'boolean', default: false, description: 'Those that have ended, too.' },
        limit: limitField,
        offset: offsetField,
      },
      additionalProperties: false,
    },
    output: {
      type: 'object',
      properties: { tasks: { type: 'array', items: taskSchema }, more: { type: 'boolean' } },
      required: ['tasks', 'more'],
      additionalProperties: false,
    },
    compatible: {
      name: 'TaskList',
      description: 'Lists the tasks, the newest first, with what each waits for.',
      inputSchema: { type: 'object', properties: {}, additionalProperties: false },
      toCanonical: () => ({ include_terminal: true }),
    },
    decode: ({ status, include_terminal, limit, offset }) => ({
      state: status,
      ended: include_terminal || (status !== undefined && status !== 'pending' && status !== 'running'),
      limit,
      offset,
    }),
    plan: () => planLook(),
    async run(query, context) {
      const { tasks, more } = context.tasks.list(query)
      const lines = tasks.map(taskLine)
      if (more) lines.push(`[more from offset ${query.offset + tasks.length}]`)
      return toolOutput({
        content: [{ type: 'text', text: lines.length === 0 ? 'There are no such tasks.' : lines.join('\n') }],
        summary: `${tasks.length} tasks`,
        data: { tasks: tasks.map(taskData), more },
      })
    },
  })
}
