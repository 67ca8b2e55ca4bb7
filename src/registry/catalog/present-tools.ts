import type { Presentation } from '../../contract/base/call.ts'
import type { PresentedTool, Registered, ToolStatus } from '../../contract/registry.ts'

/** A tool without advice looks the same to all. */
const untouched = {
  canonical: new WeakMap<Registered, PresentedTool>(),
  compatible: new WeakMap<Registered, PresentedTool>(),
}

/**
 * A tool as a model sees it: its name in this presentation, its description and schemas, and the annotations that are set. Nothing
 * about permission, consent, scopes or capabilities.
 */
export function presentTool(
  registered: Registered,
  about: { presentation: Presentation; status: ToolStatus },
): PresentedTool {
  if (about.status.advice !== undefined) return show(registered, about)
  const known = untouched[about.presentation]
  let presented = known.get(registered)
  if (presented === undefined) known.set(registered, (presented = show(registered, about)))
  return presented
}

function show(
  registered: Registered,
  { presentation, status }: { presentation: Presentation; status: ToolStatus },
): PresentedTool {
  const { definition, tool } = registered
  const compatible = presentation === 'compatible' ? tool.compatible : undefined
  const presented: PresentedTool = {
    tool: definition.name,
    name: compatible?.name ?? definition.name,
    title: definition.title,
    description: describe(compatible?.description ?? definition.description, registered, status),
    inputSchema: compatible?.inputSchema ?? definition.inputSchema,
    presentation: compatible === undefined ? 'canonical' : 'compatible',
  }
  const hints = Object.entries(definition.annotations).filter(([, hint]) => hint !== undefined)
  return {
    ...presented,
    ...(definition.outputSchema !== undefined && { outputSchema: definition.outputSchema }),
    ...(hints.length > 0 && { annotations: Object.fromEntries(hints) }),
  }
}

function describe(description: string, { definition }: Registered, { advice }: ToolStatus): string {
  const deprecations = definition.deprecations.map(
    (entry) => `${entry.what} since ${entry.since}: ${entry.advice}`,
  )
  const all = [...(advice === undefined ? [] : [advice]), ...deprecations]
  return all.length === 0 ? description : `${description}\nDeprecated: ${all.join(' ')}`
}
