import type { RegistryView, ToolIndex } from '../../contract/registry.ts'
import type { Entry } from '../state/to-entry.ts'
import { allTenants } from '../state/tool-facts.ts'
import { createToolIndex } from '../search/create-tool-index.ts'

/** The tools of one scope: of one tenant alone, or of all. */
export interface ToolSet {
  readonly byName: ReadonlyMap<string, Entry>
  readonly byCompatible: ReadonlyMap<string, Entry>
}

/** Which tools there are, for all tenants and for each one alone. A tenant's own tool stands before the one of all. */
export interface ToolSets {
  /** What a scope itself has. */
  toolSet(scope: string): ToolSet
  scopes(): readonly string[]
  /** Puts a tool in its place; returns the one that stood there. */
  put(scope: string, entry: Entry): Entry | undefined
  /** Takes a tool away; returns it. */
  take(scope: string, name: string): Entry | undefined
  /** What a tenant has now; the same object until something changes. */
  view(tenant: string): RegistryView
  /** Whether a tool of this name stands anywhere. */
  holds(entry: Entry): boolean
}

interface WritableToolSet extends ToolSet {
  readonly byName: Map<string, Entry>
  readonly byCompatible: Map<string, Entry>
}

/** No tools. */
export function createToolSets(): ToolSets {
  const toolSets = new Map<string, WritableToolSet>()
  /** Tool sets that a view shows: before the next change they are copied, so that no view ever changes. */
  const shown = new Set<WritableToolSet>()
  const views = new Map<string, RegistryView>()
  const empty: ToolSet = { byName: new Map(), byCompatible: new Map() }

  const writable = (scope: string): WritableToolSet => {
    views.clear()
    const toolSet = toolSets.get(scope)
    if (toolSet !== undefined && !shown.has(toolSet)) return toolSet
    const copy = { byName: new Map(toolSet?.byName), byCompatible: new Map(toolSet?.byCompatible) }
    if (toolSet !== undefined) shown.delete(toolSet)
    toolSets.set(scope, copy)
    return copy
  }
  const remove = (toolSet: WritableToolSet, name: string): Entry | undefined => {
    const entry = toolSet.byName.get(name)
    toolSet.byName.delete(name)
    if (entry?.tool.compatible !== undefined) toolSet.byCompatible.delete(entry.tool.compatible.name)
    return entry
  }
  const show = (scope: string): ToolSet => {
    const toolSet = toolSets.get(scope)
    if (toolSet === undefined) return empty
    shown.add(toolSet)
    return toolSet
  }
  return {
    toolSet: (scope) => toolSets.get(scope) ?? empty,
    scopes: () => [...toolSets.keys()],
    put(scope, entry) {
      const toolSet = writable(scope)
      const before = remove(toolSet, entry.definition.name)
      toolSet.byName.set(entry.definition.name, entry)
      if (entry.tool.compatible !== undefined) toolSet.byCompatible.set(entry.tool.compatible.name, entry)
      return before
    },
    take: (scope, name) => remove(writable(scope), name),
    view(tenant) {
      // Tenants without tools of their own share one view.
      const scope = toolSets.has(tenant) ? tenant : allTenants
      let view = views.get(scope)
      if (view === undefined) {
        view = createView(show(allTenants), scope === allTenants ? undefined : show(scope))
        views.set(scope, view)
      }
      return view
    },
    holds: ({ tool, definition }) =>
      [...toolSets.values()].some((toolSet) => toolSet.byName.get(definition.name)?.tool === tool),
  }
}

function createView(general: ToolSet, own: ToolSet | undefined): RegistryView {
  let sorted: readonly Entry[] | undefined
  const list = () =>
    (sorted ??= [...new Map([...general.byName, ...(own?.byName ?? [])]).values()].sort((left, right) =>
      left.definition.name < right.definition.name ? -1 : 1,
    ))
  let index: ToolIndex<Entry> | undefined
  let deferred: readonly Entry[] | undefined
  const listDeferred = () => (deferred ??= list().filter((entry) => entry.deferred))
  const search = (query: string): Iterable<Entry> =>
    (index ??= createToolIndex(listDeferred(), ({ definition }) => definition)).search(query)
  if (own === undefined)
    return {
      find: (name) => general.byName.get(name),
      findCompatible: (name) => general.byCompatible.get(name),
      list,
      search,
      get deferred() {
        return listDeferred().length
      },
      size: general.byName.size,
    }
  return {
    find: (name) => own.byName.get(name) ?? general.byName.get(name),
    findCompatible(name) {
      const entry = general.byCompatible.get(name)
      const hidden = entry !== undefined && own.byName.has(entry.definition.name)
      return own.byCompatible.get(name) ?? (hidden ? undefined : entry)
    },
    list,
    search,
    get deferred() {
      return listDeferred().length
    },
    get size() {
      return list().length
    },
  }
}
