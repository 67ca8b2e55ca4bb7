import type { ToolSource } from '../../contract/tool/tool.ts'
import { searchTools as listSearchTools } from '../../tools/tools/tools.ts'

/** The built-in tool that finds deferred tools. Models are shown it while there are any. */
export function searchTools(): ToolSource {
  const tools = listSearchTools()
  return { id: 'builtin.tools', kind: 'builtin', list: () => tools }
}
