import type { ToolSource } from '../../contract/tool/tool.ts'
import { jobTools as listJobTools } from '../../tools/job/tools.ts'

/** The built-in tools that look after commands in the background. */
export function jobTools(): ToolSource {
  const tools = listJobTools()
  return { id: 'builtin.job', kind: 'builtin', list: () => tools }
}
