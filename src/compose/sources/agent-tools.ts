import type { ToolSource } from '../../contract/base/tool.ts'
import { defineTool } from '../../define/define-tool.ts'

/** A tool of an agent that Handrail has no tool for. */
export interface AgentTool {
  /** Canonical name, such as `agent.Skill` or `mcp.github.create_issue`. */
  name: string
  /** Whether it changes nothing and reaches nothing outside of the agent. If not, it is asked about like every tool that changes things. */
  harmless: boolean
}

/** Tools of an agent as a source, so that the policy can name them. They take any input, and cannot be run here. */
export function agentTools(tools: readonly AgentTool[]): ToolSource {
  const list = tools.map(({ name, harmless }) =>
    defineTool({
      name,
      description: 'A tool of an agent, which the agent runs itself.',
      permission: harmless ? 'readonly' : 'write',
      sideEffect: harmless ? 'none' : 'write',
      rawInput: { type: 'object' },
      run: () => {
        throw new Error('Only the agent can run its own tools.')
      },
    }),
  )
  return { id: 'agent', kind: 'agent', byOperator: true, list: () => list }
}
