import type { ToolSource } from '../../contract/tool/tool.ts'
import { userTools as listUserTools } from '../../tools/user/tools.ts'

/** The built-in tool that asks the person who works with a session: the handler `elicit` of the runtime, session or call answers. */
export function userTools(): ToolSource {
  const tools = listUserTools()
  return { id: 'builtin.user', kind: 'builtin', list: () => tools }
}
