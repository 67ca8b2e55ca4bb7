import type { WebSearchConfiguration } from '../../contract/configuration.ts'
import type { Tool } from '../../contract/tool/tool.ts'
import { fetchTool } from './fetch.ts'
import { searchTool } from './search.ts'

/** The built-in tools of the group `web`, in order of their names. */
export function webTools(search: WebSearchConfiguration | undefined): Tool[] {
  return [fetchTool(), searchTool(search)]
}
