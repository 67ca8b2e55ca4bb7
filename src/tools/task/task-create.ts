import type { NewTask } from '../../contract/services/tasks.ts'
import type { Tool } from '../../contract/tool/tool.ts'
import { defineBuiltin } from '../define-builtin.ts'
import { ownerField, stepField, stepsField, tasksField, textField, titleField } from './fields.ts'
import { changesTasks, planChange } from './manifest.ts'
import { countedOutput, countedSchema } from './show-task.ts'

export const newStepFields = {
  step_id: stepField,
  title: titleField,
  description: { ...textField, description: 'All that a worker needs to do it.' },
  depends_on: { ...stepsField, description: 'Steps that have to be completed before it.' },
} as const

/** `agent.task_create`: a task, with steps that depend on each other. */
export function taskCreateTool(): Tool {
  return defineBuiltin({
    name: 'agent.task_create',
    title: 'Create task',
    description:
      'Makes a task. Its steps may depend on each other, but not in a circle; those that wait for nothing are ready at once, to be claimed by workers. A step may name one that stands later in the list. At most 1,000 steps at once; agent.task_update adds more.',
    ...changesTasks,
    input: {
      type: 'object',
      properties: {
        title: titleField,
        summary: { ...textField, description: 'What is to be reached, and what is known.' },
        owner: ownerField,
        status: { type: 'string', enum: ['pending', 'running'], default: 'pending' },
        steps: {
          type: 'array',
          maxItems: 1000,
          items: {
            type: 'object',
            properties: newStepFields,
            required: ['step_id', 'title'],
            additionalProperties: false,
          },
        },
        depends_on: { ...tasksField, description: 'Tasks that have to be completed before it.' },
      },
      required: ['title'],
      additionalProperties: false,
    },
    output: countedSchema,
    compatible: {
      name: 'TaskCreate',
      description: 'Adds a task to the list of tasks. TaskUpdate says what it waits for and how it stands.',
      inputSchema: {
        type: 'object',
        properties: {
          subject: titleField,
          description: textField,
          owner: ownerField,
          status: { type: 'string', enum: ['pending', 'in_progress'] },
          activeForm: { type: 'string', description: 'Not kept.' },
        },
        required: ['subject'],
        additionalProperties: false,
      },
      toCanonical: ({ subject, description, owner, status }) => ({
        title: subject ?? '',
        ...(description !== undefined && { summary: description }),
        ...(owner !== undefined && { owner }),
        ...(status !== undefined && { status: status === 'in_progress' ? 'running' : status }),
      }),
    },
    decode: ({ title, summary, owner, status, steps, depends_on }): NewTask => ({
      title,
      summary,
      owner,
      state: status,
      steps: steps?.map(({ step_id, depends_on: dependsOn, ...step }) => ({
        id: step_id,
        ...step,
        dependsOn,
      })),
      dependsOn: depends_on,
    }),
    plan: ({ title, summary, steps = [] }) =>
      planChange('*', {
        title: `Create task ${title}`,
        body: [summary, ...steps.map((step) => `- ${step.id}: ${step.title}`)].filter(Boolean).join('\n'),
      }),
    run: async (task, { tasks }) => countedOutput(await tasks.create(task)),
  })
}
