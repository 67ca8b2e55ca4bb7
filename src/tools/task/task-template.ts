import type { JsonObject } from '../../contract/base/json.ts'
import type { Tool } from '../../contract/tool/tool.ts'
import { toolOutput } from '../../kit/result/tool-output.ts'
import { defineBuiltin } from '../define-builtin.ts'
import { textField } from './fields.ts'
import { looksAtTasks, planLook } from './manifest.ts'

const advice = `Write the task as input of agent.task_create.
- A step is one thing that one worker does by itself, with a title that says what is there at its end.
- Its description has all that a worker needs who sees nothing else: files, limits, how to check the result.
- depends_on names the steps whose results it needs, and no others: what does not depend on each other runs at the same time.
- Steps that change the same file depend on each other.
- The last step checks the whole.`

/** `agent.task_template`: what a good task looks like, to be filled in. */
export function taskTemplateTool(): Tool {
  return defineBuiltin({
    name: 'agent.task_template',
    title: 'Template of a task',
    description:
      'Returns a template of a task with steps that depend on each other, as input for agent.task_create, and how to fill it in. Makes no task.',
    ...looksAtTasks,
    needs: [],
    input: {
      type: 'object',
      properties: { goal: { ...textField, description: 'What is to be reached.' } },
      additionalProperties: false,
    },
    decode: ({ goal }) => goal ?? 'What is there when the task is completed',
    plan: () => planLook(),
    async run(goal) {
      const template: JsonObject = {
        title: 'The goal in one line',
        summary: goal,
        steps: [
          { step_id: 'find-out', title: 'What has to be known is written down', description: '' },
          { step_id: 'first-part', title: 'The first part is done', depends_on: ['find-out'] },
          { step_id: 'second-part', title: 'The second part is done', depends_on: ['find-out'] },
          { step_id: 'check', title: 'The whole is checked', depends_on: ['first-part', 'second-part'] },
        ],
      }
      return toolOutput({
        content: [{ type: 'text', text: `${advice}\n\n${JSON.stringify(template, null, 2)}` }],
        summary: 'a template of a task',
        data: { template, advice },
      })
    },
  })
}
