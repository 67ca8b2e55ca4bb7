/** The tool that finds deferred tools. */
export const searchingTool = 'tools.search'

/** Whether the texts of a result name tools for a model to call, so that they have to be said as it calls them. */
export function namesTools({ tool, ok }: { readonly tool: string; readonly ok: boolean }): boolean {
  return ok && tool === searchingTool
}
