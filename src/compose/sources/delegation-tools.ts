import type { ToolSource } from '../../contract/base/tool.ts'
import { delegationTools as listDelegationTools } from '../../tools/agent/tools.ts'

/** The built-in tools that start agents and look after them. Roles below `orchestrator` never have them. */
export function delegationTools(): ToolSource {
  const tools = listDelegationTools()
  return { id: 'builtin.agent', kind: 'builtin', list: () => tools }
}
