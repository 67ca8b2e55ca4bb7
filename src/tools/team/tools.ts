import type { Tool } from '../../contract/base/tool.ts'
import { createTeamTool } from './create-team.ts'
import { deleteTeamTool } from './delete-team.ts'
import { sendMessageTool } from './send-message.ts'

/** The built-in tools for teams of agents, in order of their names. */
export function teamTools(): Tool[] {
  return [createTeamTool(), deleteTeamTool(), sendMessageTool()]
}
