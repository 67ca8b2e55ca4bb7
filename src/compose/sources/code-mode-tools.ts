import type { ToolSource } from '../../contract/tool/tool.ts'
import { codeModeTools as listCodeModeTools } from '../../tools/code-mode/tools.ts'

/** The built-in tools for programs of models, which call the other tools of their session. */
export function codeModeTools(): ToolSource {
  const tools = listCodeModeTools()
  return { id: 'builtin.code_mode', kind: 'builtin', list: () => tools }
}
