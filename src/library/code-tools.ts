import type { ToolSource } from '../contract/tool.ts'
import { codeTools as listCodeTools } from '../tools/code/tools.ts'

/** Which of the built-in tools for code there are. */
export interface CodeToolsOptions {
  /** Whether there is `code.run_shell`, which runs command lines and is asked for like every dangerous tool. Default false. */
  shell?: boolean | undefined
}

/** The built-in tools that read, search, write and run in the project folder. */
export function codeTools({ shell = false }: CodeToolsOptions = {}): ToolSource {
  const tools = listCodeTools({ shell })
  return { id: 'builtin.code', kind: 'builtin', list: () => tools }
}
