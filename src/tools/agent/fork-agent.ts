import type { Tool } from '../../contract/tool/tool.ts'
import { defineBuiltin } from '../define-builtin.ts'
import { agentFields, startsAgents } from './fields.ts'
import { reportSchema, showEnd } from './show-report.ts'

/** `agent.fork_agent`: an agent that starts from the conversation of its caller. */
export function forkAgentTool(): Tool {
  return defineBuiltin({
    ...startsAgents,
    name: 'agent.fork_agent',
    title: 'Fork agent',
    description:
      'Starts an agent that knows this conversation as it was before this answer, and does one part of the work. Returns what it says at its end.',
    needs: ['agents'],
    input: {
      type: 'object',
      properties: {
        task: { ...agentFields.task, description: 'What the agent is to do.' },
        allowed_tools: agentFields.allowedTools,
        timeout_ms: agentFields.timeoutMs,
      },
      required: ['task'],
      additionalProperties: false,
    },
    output: reportSchema,
    decode: ({ task, allowed_tools, timeout_ms }) => ({
      kind: 'fork' as const,
      task,
      allowedTools: allowed_tools,
      timeoutMs: timeout_ms,
    }),
    plan: async () => ({
      operations: [{ kind: 'other', resource: 'handrail:agent:fork' }],
      planned: null,
    }),
    run: async (wish, { agents }) => showEnd(await agents.start(wish)),
  })
}
