import type { ProgramLimits } from '../../contract/services/code-mode.ts'
import type { Tool } from '../../contract/tool/tool.ts'
import { declarationsTool } from './declarations.ts'
import { runTool } from './run.ts'

/** The built-in tools for programs, in order of their names. */
export function codeModeTools(limits: ProgramLimits): Tool[] {
  return [declarationsTool(), runTool(limits)]
}
