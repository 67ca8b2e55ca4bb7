import type { Tool } from '../../contract/tool/tool.ts'
import { planTemplateTool } from '../agent/plan-template.ts'
import { enterTool } from './enter.ts'
import { exitTool } from './exit.ts'
import { todoWriteTool } from './todo-write.ts'

/** The built-in tools with which an agent plans, in order of their names. */
export function planTools(): Tool[] {
  return [planTemplateTool(), enterTool(), exitTool(), todoWriteTool()]
}
