import type { Tool } from '../../contract/tool/tool.ts'
import { listTool } from './list.ts'
import { outputTool } from './output.ts'
import { stopTool } from './stop.ts'

/** The built-in tools of the group `job`, in order of their names. */
export function jobTools(): Tool[] {
  return [listTool(), outputTool(), stopTool()]
}
