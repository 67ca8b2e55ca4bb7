import type { Tool } from '../../contract/tool/tool.ts'
import { askTool } from './ask.ts'

/** The built-in tools of the group `user`. */
export function userTools(): Tool[] {
  return [askTool()]
}
