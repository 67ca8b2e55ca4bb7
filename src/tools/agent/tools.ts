import type { Tool } from '../../contract/base/tool.ts'
import { createSubAgentTool } from './create-sub-agent.ts'
import { forkAgentTool } from './fork-agent.ts'
import { inspectAgentTool } from './inspect-agent.ts'

/** The built-in tools that start agents and look after them, in order of their names. */
export function delegationTools(): Tool[] {
  return [createSubAgentTool(), forkAgentTool(), inspectAgentTool()]
}
