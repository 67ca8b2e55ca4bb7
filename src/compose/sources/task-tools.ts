import type { ToolSource } from '../../contract/tool/tool.ts'
import { taskTools as listTaskTools } from '../../tools/task/tools.ts'

/** The built-in tools for tasks with steps that workers claim. Tasks live in the store of the runtime: in a file, several processes share them. */
export function taskTools(): ToolSource {
  const tools = listTaskTools()
  return { id: 'builtin.task', kind: 'builtin', list: () => tools }
}
