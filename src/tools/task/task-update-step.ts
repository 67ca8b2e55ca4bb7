import type { StepUpdate } from '../../contract/services/tasks.ts'
import type { Tool } from '../../contract/tool/tool.ts'
import { toolOutput } from '../../kit/result/tool-output.ts'
import { defineBuiltin } from '../define-builtin.ts'
import { reasonField, stepField, taskField } from './fields.ts'
import { changesTasks, planChange } from './manifest.ts'
import { stepData, stepLine, stepSchema } from './show-task.ts'

/** `agent.task_update_step`: what a worker says of a step that it claimed. */
export function taskUpdateStepTool(): Tool {
  return defineBuiltin({
    name: 'agent.task_update_step',
    title: 'Update step',
    description:
      'Says how a step stands that this session has claimed: running keeps it for another 300 seconds, completed lets go on what depends on it, failed does not, ready hands it back. attempt is the number that the claim gave: if another worker has the step by now, nothing is changed.',
    ...changesTasks,
    limits: { ...changesTasks.limits, maxBytesIn: 256 * 1024 },
    input: {
      type: 'object',
      properties: {
        task_id: taskField,
        step_id: stepField,
        attempt: { type: 'integer', minimum: 1, description: 'As agent.task_claim_step gave it.' },
        status: { type: 'string', enum: ['running', 'completed', 'failed', 'ready'] },
        output: {
          type: ['string', 'object'],
          additionalProperties: true,
          description: 'What came of it, for the steps that depend on it; with running, how far it is.',
        },
        reason: { ...reasonField, description: 'Why it failed or is handed back.' },
      },
      required: ['task_id', 'step_id', 'attempt', 'status'],
      additionalProperties: false,
    },
    output: {
      type: 'object',
      properties: { step: stepSchema },
      required: ['step'],
      additionalProperties: false,
    },
    decode: ({ task_id, step_id, attempt, status, output, reason }): StepUpdate => ({
      task: task_id,
      step: step_id,
      attempt,
      state: status,
      output,
      reason,
    }),
    plan: ({ task, step, state, output, reason }) =>
      planChange(task, {
        title: `Step ${step} of ${task} is ${state}`,
        body: reason ?? (typeof output === 'string' ? output : JSON.stringify(output ?? {}, null, 2)),
      }),
    async run(update, { tasks }) {
      const step = await tasks.updateStep(update)
      return toolOutput({
        content: [{ type: 'text', text: stepLine(step) }],
        summary: stepLine(step),
        data: { step: stepData(step) },
      })
    },
  })
}
