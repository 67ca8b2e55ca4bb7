import type { Tool } from '../../contract/tool/tool.ts'
import { defineBuiltin } from '../define-builtin.ts'
import {
  ownerField,
  reasonField,
  taskField,
  tasksField,
  taskStateField,
  textField,
  titleField,
} from './fields.ts'
import { changesTasks, planChange } from './manifest.ts'
import { countedOutput, countedSchema } from './show-task.ts'
import { newStepFields } from './task-create.ts'
import { toOperations } from './to-operations.ts'
import { updatePresentation } from './update-presentation.ts'

const operation = {
  type: 'object',
  properties: {
    op: {
      type: 'string',
      enum: [
        'update_task',
        'add_step',
        'update_step',
        'delete_step',
        'add_dependency',
        'remove_dependency',
        'cancel_step',
        'reopen_step',
      ],
      description: 'All but update_task need step_id.',
    },
    ...newStepFields,
    depends_on: {
      ...newStepFields.depends_on,
      description: 'For add_step, add_dependency and remove_dependency: the steps that step_id waits for.',
    },
    title: { ...titleField, description: 'For update_task, add_step and update_step.' },
    description: { ...textField, description: 'For add_step and update_step.' },
    summary: { ...textField, description: 'For update_task, as the next five.' },
    owner: ownerField,
    status: { ...taskStateField, description: 'pending or running opens a task that has ended.' },
    add_depends_on: { ...tasksField, description: 'Tasks that this one is to wait for.' },
    remove_depends_on: { ...tasksField, description: 'Tasks that it is not to wait for any more.' },
    add_blocks: { ...tasksField, description: 'Tasks that are to wait for this one.' },
    reason: { ...reasonField, description: 'For cancel_step.' },
  },
  required: ['op'],
  additionalProperties: false,
} as const

/** `agent.task_update`: changes of a task and its steps, all or none. */
export function taskUpdateTool(): Tool {
  return defineBuiltin({
    name: 'agent.task_update',
    title: 'Update task',
    description:
      'Changes a task and its steps: all operations in their order, or none if one of them cannot be done. No circle of dependencies can come about. What workers do goes on meanwhile.',
    ...changesTasks,
    input: {
      type: 'object',
      properties: {
        task_id: taskField,
        operations: { type: 'array', minItems: 1, maxItems: 1000, items: operation },
      },
      required: ['task_id', 'operations'],
      additionalProperties: false,
    },
    output: countedSchema,
    compatible: updatePresentation,
    decode: ({ task_id, operations }) => ({
      task: task_id,
      operations: toOperations(operations),
      given: operations,
    }),
    plan: ({ task, given }) =>
      planChange(task, {
        title: `Update task ${task}`,
        body: given.map((one) => JSON.stringify(one)).join('\n'),
      }),
    run: async ({ task, operations }, { tasks }) => countedOutput(await tasks.update(task, operations)),
  })
}
