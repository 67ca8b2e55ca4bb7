import type { RegistryView } from '../contract/registry.ts'
import { createDisposal } from './catalog/create-disposal.ts'
import { createToolSets, type ToolSets } from './catalog/create-tool-sets.ts'
import type { ToolStatuses } from './state/create-tool-statuses.ts'
import type { PlannedTool } from './admission/plan-tool.ts'
import type { Entry } from './state/to-entry.ts'
import type { PinBook } from './state/tool-facts.ts'

/** A view that keeps its tools from being ended until it is released. */
export interface ViewLease {
  readonly view: RegistryView
  release(): void
}

/** A tool in its scope. */
export interface Placed {
  readonly scope: string
  readonly entry: Entry
}

/** The tools there are: in their places, waiting behind the one in force, or on their way out. */
export interface ToolCatalog {
  readonly toolSets: ToolSets
  place(planned: PlannedTool): void
  remove(scope: string, name: string): void
  /** Keeps, until the end, tools that no session can call. */
  keep(entries: readonly Entry[]): void
  /** Whether any definition waits for approval. */
  hasPending(): boolean
  /** Puts in force what is pinned by now; returns it. */
  settle(pins: PinBook): readonly Placed[]
  lease(tenant: string): ViewLease
  close(): Promise<void>
}

interface CatalogOptions {
  statuses: ToolStatuses
  disposeTimeoutMs: number
  onError: (tool: string, cause: unknown) => void
}

/** No tools yet. */
export function createToolCatalog({ statuses, disposeTimeoutMs, onError }: CatalogOptions): ToolCatalog {
  const toolSets = createToolSets()
  /** Behind the one in force, by scope and name. */
  const waiting = new Map<string, Placed>()
  const leftOver: Entry[] = []
  const disposal = createDisposal({
    timeoutMs: disposeTimeoutMs,
    onError,
    isRegistered: (entry) =>
      toolSets.holds(entry) || [...waiting.values()].some((placed) => placed.entry.tool === entry.tool),
  })
  const stopWaiting = (scope: string, name: string): void => {
    const placed = waiting.get(keyOf(scope, name))
    waiting.delete(keyOf(scope, name))
    if (placed !== undefined) disposal.retire(placed.entry)
  }
  const letGo = (scope: string, entry: Entry | undefined): void => {
    if (entry === undefined) return
    statuses.letGo(scope, entry)
    disposal.retire(entry)
  }
  return {
    toolSets,
    place({ scope, entry, goes, changed }) {
      stopWaiting(scope, entry.definition.name)
      if (goes === 'waiting') {
        waiting.set(keyOf(scope, entry.definition.name), { scope, entry })
        return
      }
      letGo(scope, toolSets.put(scope, entry))
      if (goes === 'held') statuses.hold(scope, entry, changed)
    },
    remove(scope, name) {
      stopWaiting(scope, name)
      letGo(scope, toolSets.take(scope, name))
    },
    keep(entries) {
      leftOver.push(...entries)
    },
    hasPending: () => waiting.size > 0 || statuses.held().length > 0,
    settle(pins) {
      const isPinned = ({ scope, entry }: Placed) =>
        pins.find(scope, entry.definition.name)?.identity === entry.identity
      const approved = [...waiting.values()].filter(isPinned)
      for (const { scope, entry } of approved) {
        waiting.delete(keyOf(scope, entry.definition.name))
        letGo(scope, toolSets.put(scope, entry))
      }
      const released = statuses.held().filter(isPinned)
      for (const { scope, entry } of released) statuses.letGo(scope, entry)
      return [...approved, ...released]
    },
    lease(tenant) {
      const view = toolSets.view(tenant)
      return { view, release: disposal.hold(view) }
    },
    close() {
      const status = toolSets.scopes().flatMap((scope) => [...toolSets.toolSet(scope).byName.values()])
      return disposal.close([...status, ...[...waiting.values()].map((placed) => placed.entry), ...leftOver])
    },
  }
}

function keyOf(scope: string, name: string): string {
  return `${scope} ${name}`
}
