import { checkWebSearch } from '../../config/check-web-search.ts'
import type { WebSearchConfiguration } from '../../contract/configuration.ts'
import { SetupError } from '../../contract/base/errors.ts'
import type { ToolSource } from '../../contract/tool/tool.ts'
import { webTools as listWebTools } from '../../tools/web/tools.ts'

/** What the built-in web tools stand on. */
export interface WebToolsOptions {
  /** The engine behind `web.search`. Its key is one of the runtime's `secrets`. Absent: `web.search` cannot be used, and says so. */
  search?: WebSearchConfiguration | undefined
}

/** The built-in tools that fetch from the web and search it. Throws a SetupError where the search engine cannot be used. */
export function webTools({ search }: WebToolsOptions = {}): ToolSource {
  const issues = checkWebSearch(search)
  if (issues.length > 0)
    throw new SetupError('invalid_options', 'These options of webTools cannot be used:', issues)
  const tools = listWebTools(search)
  return { id: 'builtin.web', kind: 'builtin', list: () => tools }
}
