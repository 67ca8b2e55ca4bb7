import type { defineTool, Tool } from 'handrail'
import { runTask, taskDescription, taskName, taskSchema } from '../harness/task.ts'

/** The task of all contenders as a tool of Handrail. */
export function makeTaskTool(define: typeof defineTool): Tool {
  return define({
    name: taskName,
    description: taskDescription,
    permission: 'readonly',
    input: taskSchema,
    run: (line) => runTask(line),
  })
}
