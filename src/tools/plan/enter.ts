import type { Tool } from '../../contract/tool/tool.ts'
import { toolOutput } from '../../kit/result/tool-output.ts'
import { defineBuiltin } from '../define-builtin.ts'
import { modeOf } from './in-plan-mode.ts'

/** `plan.enter`: the session only reads from now on, until a person lets it go on. */
export function enterTool(): Tool {
  return defineBuiltin({
    name: 'plan.enter',
    title: 'Enter plan mode',
    description:
      'Enters plan mode: from now on the session can look and not change anything. Use it to explore and design before a larger change. Only the person ends it, when you present the plan with plan.exit.',
    tags: ['plan', 'readonly'],
    permission: 'readonly',
    sideEffect: 'none',
    scopes: [{ resource: 'handrail:session:mode', action: 'write' }],
    concurrency: 'serial',
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    needs: ['planMode'],
    input: { type: 'object', properties: {}, additionalProperties: false },
    output: {
      type: 'object',
      properties: { mode: { type: 'string' }, entered: { type: 'boolean' } },
      required: ['mode', 'entered'],
      additionalProperties: false,
    },
    compatible: {
      name: 'EnterPlanMode',
      description:
        'Enters plan mode: from now on the session can look and not change anything. Only the person ends it, when you present the plan with ExitPlanMode.',
      inputSchema: { type: 'object', properties: {}, additionalProperties: false },
      toCanonical: () => ({}),
    },
    decode: () => undefined,
    plan: async () => ({
      operations: [{ kind: 'other', resource: 'handrail:session:mode' }],
      planned: null,
    }),
    async run(_, { planMode }) {
      const entered = planMode.reason === undefined
      if (entered) await planMode.enter()
      const summary = entered ? 'The session is in plan mode.' : 'The session was in plan mode already.'
      return toolOutput({
        content: [
          {
            type: 'text',
            text: `${summary} Look at what you need, and write a plan. Tools that change something are not available until a person approved the plan.`,
          },
        ],
        summary,
        data: { mode: modeOf(planMode), entered },
      })
    },
  })
}
