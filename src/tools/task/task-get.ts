import type { Tool } from '../../contract/tool/tool.ts'
import { toolOutput } from '../../kit/result/tool-output.ts'
import { showControls } from '../../kit/text/show-controls.ts'
import { defineBuiltin } from '../define-builtin.ts'
import { taskField } from './fields.ts'
import { looksAtTasks, planLook } from './manifest.ts'
import {
  countsLine,
  countsSchema,
  stepData,
  stepLine,
  stepSchema,
  taskData,
  taskLine,
  taskSchema,
} from './show-task.ts'

const shownSteps = 50

/** `agent.task_get`: a task, how its steps stand, and the first of them. */
export function taskGetTool(): Tool {
  return defineBuiltin({
    name: 'agent.task_get',
    title: 'Look at task',
    description: `Returns a task, how many of its steps stand where, and the first ${shownSteps} steps: those that run, then those that are ready, waiting, failed and completed. agent.task_query_steps has the others.`,
    ...looksAtTasks,
    input: {
      type: 'object',
      properties: { task_id: taskField },
      required: ['task_id'],
      additionalProperties: false,
    },
    output: {
      type: 'object',
      properties: {
        task: taskSchema,
        counts: countsSchema,
        steps: { type: 'array', items: stepSchema },
        more: { type: 'boolean' },
      },
      required: ['task', 'counts', 'steps', 'more'],
      additionalProperties: false,
    },
    compatible: {
      name: 'TaskGet',
      inputSchema: {
        type: 'object',
        properties: { taskId: taskField },
        required: ['taskId'],
        additionalProperties: false,
      },
      toCanonical: ({ taskId }) => ({ task_id: taskId ?? '' }),
    },
    decode: ({ task_id }) => task_id,
    plan: (id) => planLook(id),
    async run(id, { tasks }) {
      const { task, counts } = tasks.find(id)
      const { steps, more } = tasks.steps(id, { limit: shownSteps, offset: 0 })
      const lines = [
        `${taskLine(task)} (${countsLine(counts)})`,
        ...(task.reason === undefined ? [] : [showControls(task.reason)]),
        ...(task.summary === undefined ? [] : [showControls(task.summary)]),
        ...steps.map(stepLine),
        ...(more ? [`[more with agent.task_query_steps, from offset ${shownSteps}]`] : []),
      ]
      return toolOutput({
        content: [{ type: 'text', text: lines.join('\n') }],
        summary: taskLine(task),
        data: { task: taskData(task), counts: { ...counts }, steps: steps.map(stepData), more },
      })
    },
  })
}
