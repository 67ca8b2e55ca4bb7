import type { Tool } from '../../contract/tool/tool.ts'
import { defineBuiltin } from '../define-builtin.ts'
import { reasonField, taskField } from './fields.ts'
import { changesTasks, planChange } from './manifest.ts'
import { countedOutput, countedSchema } from './show-task.ts'

/** `agent.task_complete`: ends a task whose steps are done. */
export function taskCompleteTool(): Tool {
  return endTool({
    name: 'agent.task_complete',
    title: 'Complete task',
    description:
      'Ends a task as completed. All of its steps have to be completed or cancelled; otherwise it says which are not.',
    state: 'completed',
  })
}

/** `agent.task_fail`: ends a task that cannot be completed. */
export function taskFailTool(): Tool {
  return endTool({
    name: 'agent.task_fail',
    title: 'Fail task',
    description:
      'Ends a task as failed. Its steps stay as they are, and none can be claimed or updated any more.',
    state: 'failed',
  })
}

/** `agent.task_cancel`: ends a task that is not wanted any more. */
export function taskCancelTool(): Tool {
  return endTool({
    name: 'agent.task_cancel',
    title: 'Cancel task',
    description:
      'Ends a task as cancelled. Its steps stay as they are, and none can be claimed or updated any more.',
    state: 'cancelled',
  })
}

interface End {
  name: string
  title: string
  description: string
  state: 'completed' | 'failed' | 'cancelled'
}

function endTool({ state, ...about }: End): Tool {
  return defineBuiltin({
    ...about,
    ...changesTasks,
    input: {
      type: 'object',
      properties: { task_id: taskField, reason: reasonField },
      required: ['task_id'],
      additionalProperties: false,
    },
    output: countedSchema,
    decode: ({ task_id, reason }) => ({ task: task_id, reason }),
    plan: ({ task, reason }) => planChange(task, { title: `${about.title} ${task}`, body: reason ?? '' }),
    run: async ({ task, reason }, { tasks }) => countedOutput(await tasks.end(task, state, reason)),
  })
}
