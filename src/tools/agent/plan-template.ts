import type { Tool } from '../../contract/tool/tool.ts'
import { toolOutput } from '../../kit/result/tool-output.ts'
import { showControlsInLine } from '../../kit/text/show-controls.ts'
import { invalidInput } from '../code/base/invalid-input.ts'
import { defineBuiltin } from '../define-builtin.ts'

/** `agent.plan_template`: the headings of a plan, to be filled in. */
export function planTemplateTool(): Tool {
  return defineBuiltin({
    name: 'agent.plan_template',
    title: 'Plan template',
    description:
      'Returns the headings of a plan for a goal, to be filled in, and a path where the plan can be written. It writes nothing.',
    tags: ['plan', 'readonly'],
    permission: 'readonly',
    sideEffect: 'none',
    annotations: { readOnlyHint: true, openWorldHint: false },
    input: {
      type: 'object',
      properties: {
        goal: { type: 'string', minLength: 1, maxLength: 2_000, description: 'What is to be reached.' },
        suggested_dir: {
          type: 'string',
          minLength: 1,
          maxLength: 500,
          default: 'plans',
          description: 'Folder of the project for the plan.',
        },
      },
      required: ['goal'],
      additionalProperties: false,
    },
    output: {
      type: 'object',
      properties: {
        path: { type: 'string', description: 'Relative to the project.' },
        template: { type: 'string' },
      },
      required: ['path', 'template'],
      additionalProperties: false,
    },
    decode: ({ goal, suggested_dir }) => ({ goal: goal.trim(), folder: toFolder(suggested_dir) }),
    plan: async (asked) => ({ operations: [], planned: asked }),
    async run({ goal, folder }) {
      const path = `${folder}/${toFileName(goal)}.md`
      const template = toTemplate(showControlsInLine(goal))
      return toolOutput({
        content: [{ type: 'text', text: `A plan for ${path}:\n\n${template}` }],
        summary: `Template of a plan for ${path}`,
        data: { path, template },
      })
    },
  })
}

function toFolder(given: string): string {
  const parts = given.split('/').filter((part) => part !== '' && part !== '.')
  if (given.startsWith('/') || parts.includes('..'))
    throw invalidInput(`"suggested_dir": "${given}" leads out of the project. Name a folder in it.`)
  return parts.length === 0 ? '.' : parts.join('/')
}

/** Letters and digits of any script, in words. */
function toFileName(goal: string): string {
  const words = goal.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? ['plan']
  let name = ''
  for (const word of words.slice(0, 12))
    if (name.length + word.length < 60) name += name === '' ? word : `-${word}`
  return name === '' ? 'plan' : name
}

function toTemplate(goal: string): string {
  const parts = [
    ['Goal', goal],
    ['What is there', 'The files and facts that the plan stands on, each with its path.'],
    ['What changes', 'Each change, in order, with the files that it touches.'],
    ['What does not change', 'What stays as it is, though it lies near.'],
    ['How it is checked', 'The commands and tests that show that each change is right.'],
    ['Risks and open questions', 'What could go wrong, and what the person has to decide.'],
  ]
  return parts.map(([title, text]) => `## ${title}\n\n${text}\n`).join('\n')
}
