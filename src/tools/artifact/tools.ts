import type { Tool } from '../../contract/tool/tool.ts'
import { readTool } from './read.ts'

/** The built-in tools of the group `artifact`. */
export function artifactTools(): Tool[] {
  return [readTool()]
}
