import type { OwnTool } from '../../contract/observed.ts'
import type { ToolSource } from '../../contract/tool/tool.ts'
import { defineTool } from '../../define/define-tool.ts'

/** One of an agent's own tools as a source, so that the policy can name it. It takes any input, and cannot be run here. */
export function agentTools(name: string, { harmless }: OwnTool): ToolSource {
  const tool = defineTool({
    name,
    description: 'A tool of an agent, which the agent runs itself.',
    permission: harmless ? 'readonly' : 'write',
    sideEffect: harmless ? 'none' : 'write',
    rawInput: { type: 'object' },
    run: () => {
      throw new Error('Only the agent can run its own tools.')
    },
  })
  return { id: 'agent', kind: 'agent', byOperator: true, list: () => [tool] }
}
