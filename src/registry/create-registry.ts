import type { Registry } from '../contract/registry.ts'
import type { SourceOutage } from '../contract/mcp/tool-feed.ts'
import type { ToolDefinition } from '../contract/tool/tool.ts'
import { afterPromises } from '../kit/time/after-promises.ts'
import { listPending } from './state/approve-definition.ts'
import { createRegistryChanges, type RegistryChanges } from './create-registry-changes.ts'
import { createToolStatuses, type ToolStatuses } from './state/create-tool-statuses.ts'
import { createToolCatalog, type ToolCatalog, type ViewLease } from './create-tool-catalog.ts'
import { discover } from './catalog/discover.ts'
import { toApprovalNote, toStateNote, type RegistryNote } from './state/registry-note.ts'
import type { RegistryOptions } from './registry-options.ts'
import type { Entry } from './state/to-entry.ts'
import { allTenants, createPinReader, readStates, toDefinition, type PinBook } from './state/tool-facts.ts'

/** A registry that can change. */
export interface ChangingRegistry extends Registry, RegistryChanges {
  /** The definitions that a source from outside had when it was last seen. */
  remembered(source: string): readonly ToolDefinition[]
  /** Whether it had any. */
  knowsOf(source: string): boolean
  /** Names of the tools of a source that all tenants have, or each of these. */
  namesOf(source: string, tenants?: readonly string[]): ReadonlySet<string>
  /** Says whether anything answers behind the tools of a source, for one tenant. */
  setOutage(outage: SourceOutage): void
  /** What a tenant has now, kept from being ended until it is released. */
  lease(tenant: string): ViewLease
  /** Ends every tool. */
  close(): Promise<void>
}

/** A registry without tools. Close it to end them. */
export function createRegistry(options: RegistryOptions): ChangingRegistry {
  const statuses = createToolStatuses()
  const pins = createPinReader(options.store)
  const catalog = createToolCatalog({
    statuses,
    disposeTimeoutMs: options.disposeTimeoutMs ?? 5_000,
    onError: options.onError,
  })
  const { toolSets } = catalog
  const news = createNews({ ...options, statuses, catalog, pins })
  const status: Registry['status'] = (registered, tenant) => {
    news.refreshOnce()
    // Only this room makes registered tools.
    return statuses.of(registered as Entry, tenant)
  }
  const changes = createRegistryChanges({
    ...options,
    catalog,
    statuses,
    pins,
    refresh: news.refresh,
    announce: news.announce,
    changed: news.changed,
  })
  return {
    ...changes,
    find: (name) => toolSets.view(allTenants).find(name),
    findCompatible: (name) => toolSets.view(allTenants).findCompatible(name),
    list: () => toolSets.view(allTenants).list(),
    search: (query) => toolSets.view(allTenants).search(query),
    get deferred() {
      return toolSets.view(allTenants).deferred
    },
    get size() {
      return toolSets.toolSet(allTenants).byName.size
    },
    view: (tenant) => toolSets.view(tenant),
    status,
    stateOf(name, tenant = 'local') {
      const registered = toolSets.view(tenant).find(name)
      return registered === undefined ? undefined : status(registered, tenant).state
    },
    identityOf(name, tenant) {
      const registered = toolSets.view(tenant).find(name)
      if (registered !== undefined) return registered.identity
      const book = pins()
      return (book.find(tenant, name) ?? book.find(allTenants, name))?.identity
    },
    discover(query = {}) {
      const { tenant = 'local' } = query
      return discover(toolSets.view(tenant).list(), query, (registered) => status(registered, tenant))
    },
    pending: () => listPending(pins()),
    version: () => news.version(),
    remembered: (source) => pins().lastOf(source).map(toDefinition),
    knowsOf: (source) => pins().knowsOf(source),
    namesOf(source, tenants = [allTenants]) {
      const [first = allTenants, ...others] = tenants
      const has = (scope: string, name: string) => toolSets.toolSet(scope).byName.get(name)?.source === source
      const names = [...toolSets.toolSet(first).byName.keys()]
      return new Set(names.filter((name) => has(first, name) && others.every((scope) => has(scope, name))))
    },
    setOutage(outage) {
      if (statuses.setOutage(outage)) news.changed()
    },
    lease: (tenant) => catalog.lease(tenant),
    async close() {
      news.close()
      await catalog.close()
    },
  }
}

interface NewsOptions extends Pick<RegistryOptions, 'store' | 'onNote' | 'onError'> {
  statuses: ToolStatuses
  catalog: ToolCatalog
  pins: () => PinBook
}

/** Follows what this and other processes record of tools in the store, and counts the changes. */
function createNews({ store, onNote, onError, statuses, catalog, pins }: NewsOptions) {
  let factsVersion = store.factsVersion()
  statuses.reload(readStates(store))
  let version = 0
  let closed = false
  let isFresh = false
  const announce = (note: RegistryNote): void => {
    try {
      onNote(note)
    } catch (cause) {
      onError(note.tool, cause)
    }
  }
  const refresh = (): void => {
    if (closed) return
    const latest = store.factsVersion()
    if (latest === factsVersion) return
    factsVersion = latest
    const changed = statuses.reload(readStates(store))
    const approved = catalog.hasPending() ? catalog.settle(pins()) : []
    version += changed.length + approved.length
    for (const each of changed) announce(toStateNote(each))
    for (const each of approved) announce(toApprovalNote(each))
  }
  /** A caller that asks for many tools in one turn of the event loop sees one state of them, and the store is asked once. */
  const refreshOnce = (): void => {
    if (isFresh) return
    isFresh = true
    afterPromises(() => (isFresh = false))
    refresh()
  }
  return {
    announce,
    refresh,
    refreshOnce,
    changed: () => void version++,
    version() {
      refreshOnce()
      return version
    },
    close: () => void (closed = true),
  }
}
