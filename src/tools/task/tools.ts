import type { Tool } from '../../contract/tool/tool.ts'
import { taskClaimStepTool } from './task-claim-step.ts'
import { taskCreateTool } from './task-create.ts'
import { taskCancelTool, taskCompleteTool, taskFailTool } from './task-end.ts'
import { taskGetTool } from './task-get.ts'
import { taskListTool } from './task-list.ts'
import { taskQueryStepsTool } from './task-query-steps.ts'
import { taskTemplateTool } from './task-template.ts'
import { taskUpdateStepTool } from './task-update-step.ts'
import { taskUpdateTool } from './task-update.ts'

/** The built-in tools for tasks, in order of their names. */
export function taskTools(): Tool[] {
  return [
    taskCancelTool(),
    taskClaimStepTool(),
    taskCompleteTool(),
    taskCreateTool(),
    taskFailTool(),
    taskGetTool(),
    taskListTool(),
    taskQueryStepsTool(),
    taskTemplateTool(),
    taskUpdateTool(),
    taskUpdateStepTool(),
  ]
}
