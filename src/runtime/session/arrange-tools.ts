import type { PresentedTool, Registered } from '../../contract/registry.ts'

/** A tool that a session may call, as models see it. */
export interface CallableTool {
  readonly registered: Registered
  readonly tool: PresentedTool
}

/**
 * What models are shown of the tools that a session may call. Deferred ones stand behind the others, in the order in which they were found, so that what
 * was shown before stays the same from its start; with `all`, each stands in its place. Without a tool that searches none could be found, so that none is
 * kept back.
 */
export function arrangeTools(
  callable: readonly CallableTool[],
  { all, found }: { all: boolean; found: readonly string[] },
): readonly PresentedTool[] {
  const hasDeferred = callable.some(({ registered }) => registered.deferred)
  const canFind = hasDeferred && callable.some(searches)
  if (!canFind) return callable.filter((each) => !searches(each)).map(({ tool }) => tool)
  if (all) return callable.map(mark)
  const shown = callable.filter(({ registered }) => !registered.deferred)
  const deferred = new Map(
    callable.flatMap((each) => (each.registered.deferred ? [[each.tool.tool, each] as const] : [])),
  )
  return [...shown, ...found.flatMap((name) => deferred.get(name) ?? [])].map(mark)
}

function searches({ registered }: CallableTool): boolean {
  return registered.definition.needs.includes('toolSearch')
}

const marked = new WeakMap<PresentedTool, PresentedTool>()

/** The same object for the same tool. */
function mark({ registered, tool }: CallableTool): PresentedTool {
  if (!registered.deferred) return tool
  let made = marked.get(tool)
  if (made === undefined) marked.set(tool, (made = Object.freeze({ ...tool, deferred: true as const })))
  return made
}
