import type { ToolStatus } from '../../contract/registry.ts'
import type { SourceOutage } from '../../contract/mcp/tool-feed.ts'
import type { Entry } from './to-entry.ts'
import { allTenants, type StateBook } from './tool-facts.ts'
import { combineStates, countsFor, type StateFact } from './tool-states.ts'

/** Where every tool stands: what was said of it, and whether its definition waits for approval. */
export interface ToolStatuses {
  of(entry: Entry, tenant: string): ToolStatus
  /** What was said of a tool in this scope. */
  said(scope: string, name: string): StateFact | undefined
  /** For which tenants alone something was said of a tool. */
  apart(name: string): readonly string[]
  /** Takes another book; returns what is new in it. */
  reload(book: StateBook): readonly { scope: string; tool: string; fact: StateFact }[]
  /** A definition waits. */
  hold(scope: string, entry: Entry, changed: readonly string[]): void
  letGo(scope: string, entry: Entry): void
  isHeld(scope: string, entry: Entry): boolean
  held(): readonly { scope: string; entry: Entry }[]
  /** Nothing answers behind the tools of a source for this tenant, or it may again. Says whether that is news. */
  setOutage(outage: SourceOutage): boolean
}

const untouched = {
  enabled: combineStates({ all: undefined, own: undefined, initial: 'enabled' }),
  registered: combineStates({ all: undefined, own: undefined, initial: 'registered' }),
}

/** Nothing was said yet. */
export function createToolStatuses(): ToolStatuses {
  let book: StateBook = new Map()
  const held = new Map<Entry, Map<string, readonly string[]>>()
  /** Why, by source and tenant. */
  const outages = new Map<string, ReadonlyMap<string, string>>()
  const said = (scope: string, name: string) => book.get(scope)?.get(name)
  const saidFor = (entry: Entry, scope: string): StateFact | undefined => {
    const fact = said(scope, entry.definition.name)
    return fact !== undefined && countsFor(fact, entry) ? fact : undefined
  }
  const saidOf = (entry: Entry, tenant: string): ToolStatus => {
    if (book.size === 0 && held.size === 0) return untouched[entry.initial]
    const standing = combineStates({
      all: saidFor(entry, allTenants),
      own: saidFor(entry, tenant),
      initial: entry.initial,
    })
    const changed = held.get(entry)?.get(entry.tenants === undefined ? allTenants : tenant)
    if (changed === undefined) return standing
    return { ...standing, blocked: standing.blocked ?? 'definition_pending', changed }
  }
  return {
    of(entry, tenant) {
      const standing = saidOf(entry, tenant)
      const outage = outages.size === 0 ? undefined : outages.get(entry.source)?.get(tenant)
      return outage === undefined ? standing : { ...standing, outage }
    },
    said,
    apart: (name) =>
      [...book].filter(([scope, facts]) => scope !== allTenants && facts.has(name)).map(([scope]) => scope),
    reload(next) {
      const news = [...next].flatMap(([scope, facts]) =>
        [...facts].map(([tool, fact]) => ({ scope, tool, fact })),
      )
      const before = book
      book = next
      return news.filter(({ scope, tool, fact }) => !isSame(before.get(scope)?.get(tool), fact))
    },
    hold(scope, entry, changed) {
      const scopes = held.get(entry) ?? new Map<string, readonly string[]>()
      held.set(entry, scopes.set(scope, changed))
    },
    letGo(scope, entry) {
      const scopes = held.get(entry)
      scopes?.delete(scope)
      if (scopes?.size === 0) held.delete(entry)
    },
    isHeld: (scope, entry) => held.get(entry)?.has(scope) ?? false,
    held: () => [...held].flatMap(([entry, scopes]) => [...scopes.keys()].map((scope) => ({ scope, entry }))),
    setOutage({ source, tenant, why }) {
      const known = outages.get(source)
      if (known?.get(tenant) === why) return false
      const others = [...(known ?? [])].filter(([each]) => each !== tenant)
      const now = new Map(why === undefined ? others : [...others, [tenant, why]])
      if (now.size === 0) outages.delete(source)
      else outages.set(source, now)
      return true
    },
  }
}

function isSame(left: StateFact | undefined, right: StateFact): boolean {
  return (
    left !== undefined &&
    left.state === right.state &&
    left.at === right.at &&
    left.reason === right.reason &&
    left.removed === right.removed
  )
}
