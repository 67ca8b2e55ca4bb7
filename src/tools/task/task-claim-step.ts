import type { StepClaim } from '../../contract/services/tasks.ts'
import type { ToolOutput } from '../../contract/base/result.ts'
import type { Tool } from '../../contract/tool/tool.ts'
import { toolOutput } from '../../kit/result/tool-output.ts'
import { showControls } from '../../kit/text/show-controls.ts'
import { defineBuiltin } from '../define-builtin.ts'
import { stepField, taskField } from './fields.ts'
import { changesTasks, planChange } from './manifest.ts'
import { stepData, stepLine, stepSchema } from './show-task.ts'

/** `agent.task_claim_step`: a step that is ready becomes the session's own. */
export function taskClaimStepTool(): Tool {
  return defineBuiltin({
    name: 'agent.task_claim_step',
    title: 'Claim step',
    description:
      'Claims a step that is ready: step_id, or the first there is. For 300 seconds no other worker can have it; each agent.task_update_step makes it 300 seconds again. The result has the step with its attempt, which agent.task_update_step needs, or no step if none is ready.',
    ...changesTasks,
    input: {
      type: 'object',
      properties: { task_id: taskField, step_id: stepField },
      required: ['task_id'],
      additionalProperties: false,
    },
    output: {
      type: 'object',
      properties: {
        step: stepSchema,
        more: {
          type: 'boolean',
          description: 'Where there is no step: whether steps run or wait, so that one may be ready later.',
        },
      },
      required: ['more'],
      additionalProperties: false,
    },
    decode: ({ task_id, step_id }) => ({ task: task_id, step: step_id }),
    plan: ({ task, step }) =>
      planChange(task, {
        title: `Claim ${step ?? 'a step'} of ${task}`,
        body: 'No other worker has it meanwhile.',
      }),
    run: async ({ task, step }, { tasks }) => toOutput(await tasks.claim(task, step)),
  })
}

function toOutput({ step, more }: StepClaim): ToolOutput {
  if (step === undefined) {
    const text = more
      ? 'No step is ready: those that are left wait for steps that run or failed. Look again later.'
      : 'No step is ready, and none runs or waits. There is nothing left to claim.'
    return toolOutput({ content: [{ type: 'text', text }], summary: 'no step is ready', data: { more } })
  }
  const lines = [stepLine(step), ...(step.description === undefined ? [] : [showControls(step.description)])]
  return toolOutput({
    content: [{ type: 'text', text: lines.join('\n') }],
    summary: stepLine(step),
    data: { step: stepData(step), more },
  })
}
