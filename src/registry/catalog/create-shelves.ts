import type { RegistryView } from '../../contract/registry.ts'
import type { Entry } from '../state/to-entry.ts'
import { allTenants } from '../state/tool-facts.ts'

/** The tools of one scope: of one tenant alone, or of all. */
export interface Shelf {
  readonly byName: ReadonlyMap<string, Entry>
  readonly byFamiliar: ReadonlyMap<string, Entry>
}

/** Which tools there are, for all tenants and for each one alone. A tenant's own tool stands before the one of all. */
export interface Shelves {
  /** What a scope itself has. */
  shelf(scope: string): Shelf
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

interface GrowingShelf extends Shelf {
  readonly byName: Map<string, Entry>
  readonly byFamiliar: Map<string, Entry>
}

/** Empty shelves. */
export function createShelves(): Shelves {
  const shelves = new Map<string, GrowingShelf>()
  /** Shelves that a view shows: before the next change they are copied, so that no view ever changes. */
  const shown = new Set<GrowingShelf>()
  const views = new Map<string, RegistryView>()
  const empty: Shelf = { byName: new Map(), byFamiliar: new Map() }

  const writable = (scope: string): GrowingShelf => {
    views.clear()
    const shelf = shelves.get(scope)
    if (shelf !== undefined && !shown.has(shelf)) return shelf
    const copy = { byName: new Map(shelf?.byName), byFamiliar: new Map(shelf?.byFamiliar) }
    if (shelf !== undefined) shown.delete(shelf)
    shelves.set(scope, copy)
    return copy
  }
  const remove = (shelf: GrowingShelf, name: string): Entry | undefined => {
    const entry = shelf.byName.get(name)
    shelf.byName.delete(name)
    if (entry?.tool.familiar !== undefined) shelf.byFamiliar.delete(entry.tool.familiar.name)
    return entry
  }
  const show = (scope: string): Shelf => {
    const shelf = shelves.get(scope)
    if (shelf === undefined) return empty
    shown.add(shelf)
    return shelf
  }
  return {
    shelf: (scope) => shelves.get(scope) ?? empty,
    scopes: () => [...shelves.keys()],
    put(scope, entry) {
      const shelf = writable(scope)
      const before = remove(shelf, entry.definition.name)
      shelf.byName.set(entry.definition.name, entry)
      if (entry.tool.familiar !== undefined) shelf.byFamiliar.set(entry.tool.familiar.name, entry)
      return before
    },
    take: (scope, name) => remove(writable(scope), name),
    view(tenant) {
      // Tenants without tools of their own share one view.
      const scope = shelves.has(tenant) ? tenant : allTenants
      let view = views.get(scope)
      if (view === undefined) {
        view = createView(show(allTenants), scope === allTenants ? undefined : show(scope))
        views.set(scope, view)
      }
      return view
    },
    holds: ({ tool, definition }) =>
      [...shelves.values()].some((shelf) => shelf.byName.get(definition.name)?.tool === tool),
  }
}

function createView(general: Shelf, own: Shelf | undefined): RegistryView {
  let sorted: readonly Entry[] | undefined
  const list = () =>
    (sorted ??= [...new Map([...general.byName, ...(own?.byName ?? [])]).values()].sort((left, right) =>
      left.definition.name < right.definition.name ? -1 : 1,
    ))
  if (own === undefined)
    return {
      find: (name) => general.byName.get(name),
      findFamiliar: (name) => general.byFamiliar.get(name),
      list,
      size: general.byName.size,
    }
  return {
    find: (name) => own.byName.get(name) ?? general.byName.get(name),
    findFamiliar(name) {
      const entry = general.byFamiliar.get(name)
      const hidden = entry !== undefined && own.byName.has(entry.definition.name)
      return own.byFamiliar.get(name) ?? (hidden ? undefined : entry)
    },
    list,
    get size() {
      return list().length
    },
  }
}
