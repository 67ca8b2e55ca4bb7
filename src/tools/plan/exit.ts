import type { Tool } from '../../contract/tool/tool.ts'
import { toolOutput } from '../../kit/result/tool-output.ts'
import { showControls } from '../../kit/text/show-controls.ts'
import { defineBuiltin } from '../define-builtin.ts'
import { modeOf, requireEntered } from './in-plan-mode.ts'

/** Characters of a plan. */
const longestPlan = 65_536

const planField = {
  type: 'string',
  minLength: 1,
  maxLength: longestPlan,
  description: 'The whole plan in Markdown, as the person will read it.',
} as const

/** `plan.exit`: shows the person a plan. Their yes, and nothing else, ends plan mode. */
export function exitTool(): Tool {
  return defineBuiltin({
    name: 'plan.exit',
    title: 'Exit plan mode',
    description:
      'Presents the plan to the person. If they say yes, plan mode ends and the session has the mode that it had before. If they say no, it stays in plan mode. Nothing but the answer of the person ends it.',
    tags: ['plan'],
    permission: 'readonly',
    sideEffect: 'none',
    consent: { required: true, scope: 'once', personOnly: true },
    scopes: [{ resource: 'handrail:session:mode', action: 'write' }],
    concurrency: 'serial',
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
    needs: ['planMode'],
    input: {
      type: 'object',
      properties: { plan: planField },
      required: ['plan'],
      additionalProperties: false,
    },
    output: {
      type: 'object',
      properties: { mode: { type: 'string', description: 'The mode of the session from now on.' } },
      required: ['mode'],
      additionalProperties: false,
    },
    compatible: {
      name: 'ExitPlanMode',
      inputSchema: {
        type: 'object',
        properties: { plan: planField },
        required: ['plan'],
        additionalProperties: false,
      },
      toCanonical: (input) => input,
    },
    decode: (input) => input.plan,
    async plan(plan, { planMode }) {
      if (planMode === undefined) throw new Error('"plan.exit" names the plan mode in its needs.')
      requireEntered(planMode)
      const { beneath } = planMode
      return {
        operations: [{ kind: 'other', resource: 'handrail:session:mode' }],
        preview: {
          kind: 'text',
          title: `Leave plan mode, and go back to mode "${beneath}"`,
          body: showControls(plan),
        },
        planned: beneath,
      }
    },
    async run(_, { planMode }) {
      await planMode.leave()
      const mode = modeOf(planMode)
      return toolOutput({
        content: [
          {
            type: 'text',
            text: `The person approved the plan. The session is in mode "${mode}" now: go on with the plan.`,
          },
        ],
        summary: `The person approved the plan; mode "${mode}"`,
        data: { mode },
      })
    },
  })
}
