import type { Tool } from '../../contract/tool/tool.ts'
import { declarationsTool } from './declarations.ts'
import { runTool } from './run.ts'

/** The built-in tools for programs, in order of their names. */
export function codeModeTools(): Tool[] {
  return [declarationsTool(), runTool()]
}
