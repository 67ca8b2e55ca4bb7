import type { Tool } from '../../contract/base/tool.ts'
import { cronCreateTool } from './cron-create.ts'
import { cronDeleteTool } from './cron-delete.ts'
import { cronListTool } from './cron-list.ts'

/** The built-in tools for schedules, in order of their names. */
export function scheduleTools(): Tool[] {
  return [cronCreateTool(), cronDeleteTool(), cronListTool()]
}
