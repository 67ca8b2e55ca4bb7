import type { ToolSource } from '../../contract/base/tool.ts'
import { delegationTools as listDelegationTools } from '../../tools/agent/tools.ts'

/** The built-in tools that start agents and workers, look after them and let them work in teams. Roles below `orchestrator` only send messages. */
export function delegationTools(): ToolSource {
  const tools = listDelegationTools()
  return { id: 'builtin.agent', kind: 'builtin', list: () => tools }
}
