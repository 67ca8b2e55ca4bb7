import type { Tool } from '../../contract/tool/tool.ts'
import { searchTool } from './search.ts'

/** The built-in tool that finds tools. */
export function searchTools(): Tool[] {
  return [searchTool()]
}
