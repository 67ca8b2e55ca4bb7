import type { Tool } from '../../contract/base/tool.ts'
import { teamTools } from '../team/tools.ts'
import { createSubAgentTool } from './create-sub-agent.ts'
import { dispatchWorkerTool } from './dispatch-worker.ts'
import { forkAgentTool } from './fork-agent.ts'
import { inspectAgentTool } from './inspect-agent.ts'
import { listWorkersTool } from './list-workers.ts'

/** The built-in tools that start agents, look after them and let them work together. */
export function delegationTools(): Tool[] {
  return [
    createSubAgentTool(),
    dispatchWorkerTool(),
    forkAgentTool(),
    inspectAgentTool(),
    listWorkersTool(),
    ...teamTools(),
  ]
}
