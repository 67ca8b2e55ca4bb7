import type { ToolSource } from '../../contract/tool/tool.ts'
import { planTools as listPlanTools } from '../../tools/plan/tools.ts'

/** The built-in tools with which an agent plans: plan mode, which only a person ends, a todo list, and a template of a plan. */
export function planTools(): ToolSource {
  const tools = listPlanTools()
  return { id: 'builtin.plan', kind: 'builtin', list: () => tools }
}
