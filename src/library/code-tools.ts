import type { ToolSource } from '../contract/tool.ts'
import { codeTools as listCodeTools } from '../tools/code/tools.ts'

/** The built-in tools that read, search, write and run in the project folder. */
export function codeTools(): ToolSource {
  const tools = listCodeTools()
  return { id: 'builtin.code', kind: 'builtin', list: () => tools }
}
