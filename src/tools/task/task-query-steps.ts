import type { Tool } from '../../contract/tool/tool.ts'
import { toolOutput } from '../../kit/result/tool-output.ts'
import { defineBuiltin } from '../define-builtin.ts'
import { limitField, offsetField, stepField, stepStateField, taskField } from './fields.ts'
import { looksAtTasks, planLook } from './manifest.ts'
import { stepData, stepLine, stepSchema } from './show-task.ts'

/** `agent.task_query_steps`: steps of a task, by where they stand. */
export function taskQueryStepsTool(): Tool {
  return defineBuiltin({
    name: 'agent.task_query_steps',
    title: 'Look for steps',
    description:
      'Returns steps of a task: by default those that are ready to be claimed; those of another status; or with step_ids just these, wherever they stand, with what their workers said of them.',
    ...looksAtTasks,
    input: {
      type: 'object',
      properties: {
        task_id: taskField,
        status: {
          type: 'string',
          enum: [...stepStateField.enum, 'all'],
          description: 'Default: ready; with step_ids, all.',
        },
        step_ids: { type: 'array', items: stepField, minItems: 1, maxItems: 500 },
        limit: limitField,
        offset: offsetField,
      },
      required: ['task_id'],
      additionalProperties: false,
    },
    output: {
      type: 'object',
      properties: { steps: { type: 'array', items: stepSchema }, more: { type: 'boolean' } },
      required: ['steps', 'more'],
      additionalProperties: false,
    },
    decode({ task_id, status, step_ids, limit, offset }) {
      const wanted = status ?? (step_ids === undefined ? 'ready' : 'all')
      return {
        task: task_id,
        query: { state: wanted === 'all' ? undefined : wanted, ids: step_ids, limit, offset },
      }
    },
    plan: ({ task }) => planLook(task),
    async run({ task, query }, { tasks }) {
      const { steps, more } = tasks.steps(task, query)
      const lines = steps.map(stepLine)
      if (more) lines.push(`[more from offset ${query.offset + steps.length}]`)
      return toolOutput({
        content: [{ type: 'text', text: lines.length === 0 ? 'There are no such steps.' : lines.join('\n') }],
        summary: `${steps.length} steps`,
        data: { steps: steps.map(stepData), more },
      })
    },
  })
}
