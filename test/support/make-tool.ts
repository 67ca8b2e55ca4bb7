import { defineTool, type Tool, type ToolSource } from 'handrail'

/** A tool that does nothing but say its name; readonly unless `more` says otherwise. */
export function makeTool(name: string, more: Partial<Parameters<typeof defineTool>[0]> = {}): Tool {
  return defineTool({
    name,
    description: `Says "${name}".`,
    permission: 'readonly',
    ...more,
    run: () => name,
  } as Parameters<typeof defineTool>[0])
}

/** Tools that come from a source of this kind. */
export function makeSource(kind: ToolSource['kind'], id: string, tools: readonly Tool[]): ToolSource {
  return { id, kind, list: () => tools }
}
