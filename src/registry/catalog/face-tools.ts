import type { Face } from '../../contract/base/call.ts'
import type { FacedTool, Registered, ToolStanding } from '../../contract/registry.ts'

/** A tool without advice looks the same to all. */
const untouched = {
  canonical: new WeakMap<Registered, FacedTool>(),
  familiar: new WeakMap<Registered, FacedTool>(),
}

/**
 * A tool as a model sees it: its name under this face, its description and schemas, and the annotations that are set. Nothing
 * about permission, consent, scopes or capabilities.
 */
export function faceTool(registered: Registered, about: { face: Face; standing: ToolStanding }): FacedTool {
  if (about.standing.advice !== undefined) return show(registered, about)
  const known = untouched[about.face]
  let faced = known.get(registered)
  if (faced === undefined) known.set(registered, (faced = show(registered, about)))
  return faced
}

function show(registered: Registered, { face, standing }: { face: Face; standing: ToolStanding }): FacedTool {
  const { definition, tool } = registered
  const familiar = face === 'familiar' ? tool.familiar : undefined
  const faced: FacedTool = {
    tool: definition.name,
    name: familiar?.name ?? definition.name,
    title: definition.title,
    description: describe(familiar?.description ?? definition.description, registered, standing),
    inputSchema: familiar?.inputSchema ?? definition.inputSchema,
    face: familiar === undefined ? 'canonical' : 'familiar',
  }
  const hints = Object.entries(definition.annotations).filter(([, hint]) => hint !== undefined)
  return {
    ...faced,
    ...(definition.outputSchema !== undefined && { outputSchema: definition.outputSchema }),
    ...(hints.length > 0 && { annotations: Object.fromEntries(hints) }),
  }
}

function describe(description: string, { definition }: Registered, { advice }: ToolStanding): string {
  const deprecations = definition.deprecations.map(
    (entry) => `${entry.what} since ${entry.since}: ${entry.advice}`,
  )
  const all = [...(advice === undefined ? [] : [advice]), ...deprecations]
  return all.length === 0 ? description : `${description}\nDeprecated: ${all.join(' ')}`
}
