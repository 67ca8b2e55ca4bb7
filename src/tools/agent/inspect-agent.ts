import type { Tool } from '../../contract/base/tool.ts'
import { defineBuiltin } from '../define-builtin.ts'
import { reportSchema, showReport } from './show-report.ts'

/** `agent.inspect_agent`: how an agent goes that this session started. */
export function inspectAgentTool(): Tool {
  return defineBuiltin({
    name: 'agent.inspect_agent',
    title: 'Inspect agent',
    description:
      'Tells whether an agent that you started is at work, and if it has ended, how, and what it said.',
    tags: ['agent'],
    permission: 'readonly',
    sideEffect: 'none',
    scopes: [{ resource: 'handrail:agent:*', action: 'read' }],
    annotations: { readOnlyHint: true, openWorldHint: false },
    needs: ['agents'],
    input: {
      type: 'object',
      properties: { agent_id: { type: 'string', minLength: 1, maxLength: 100 } },
      required: ['agent_id'],
      additionalProperties: false,
    },
    output: reportSchema,
    decode: ({ agent_id }) => agent_id,
    plan: async (agent) => ({
      operations: [{ kind: 'other', resource: `handrail:agent:${agent}` }],
      planned: null,
    }),
    run: async (agent, { agents }) => showReport(await agents.inspect(agent)),
  })
}
