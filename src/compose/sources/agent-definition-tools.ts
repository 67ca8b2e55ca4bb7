import type { ToolSource } from '../../contract/tool/tool.ts'
import { listAgentDefinitionsTool } from '../../tools/agent/list-agent-definitions.ts'

/**
 * The built-in tool that lists the agents that can be started. It needs the service `agentDefinitions`, which `createAgentDefinitionRegistry` makes.
 */
export function agentDefinitionTools(): ToolSource {
  const tools = [listAgentDefinitionsTool()]
  return { id: 'builtin.agent-definitions', kind: 'builtin', list: () => tools }
}
