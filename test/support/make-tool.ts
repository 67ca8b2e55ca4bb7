import { defineTool, type ManifestSpec, type Tool, type ToolSource } from 'handrail'
import type { CompatiblePresentation } from 'handrail/tools'

/** A tool that does nothing but say its name; readonly unless `more` says otherwise. */
export function makeTool(
  name: string,
  more: Partial<ManifestSpec> & {
    compatible?: CompatiblePresentation
    dispose?: () => void | Promise<void>
  } = {},
): Tool {
  return defineTool({
    name,
    description: `Says "${name}".`,
    permission: 'readonly',
    ...more,
    run: () => name,
  })
}

/** Tools that come from a source of this kind. */
export function makeSource(kind: ToolSource['kind'], id: string, tools: readonly Tool[]): ToolSource {
  return { id, kind, list: () => tools }
}
