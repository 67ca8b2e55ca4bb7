import type { ToolStanding } from '../contract/registry.ts'
import type { Entry } from './to-entry.ts'
import { allTenants, type StateBook } from './tool-facts.ts'
import { combineStates, type StateFact } from './tool-states.ts'

/** Where every tool stands: what was said of it, and whether its definition waits for approval. */
export interface Standings {
  of(entry: Entry, tenant: string): ToolStanding
  /** What was said of a tool in this scope. */
  said(scope: string, name: string): StateFact | undefined
  /** For which tenants alone something was said of a tool. */
  apart(name: string): readonly string[]
  /** Takes another book; gives what it says anew. */
  reload(book: StateBook): readonly { scope: string; tool: string; fact: StateFact }[]
  /** A definition waits. */
  hold(scope: string, entry: Entry, changed: readonly string[]): void
  letGo(scope: string, entry: Entry): void
  isHeld(scope: string, entry: Entry): boolean
  held(): readonly { scope: string; entry: Entry }[]
}

const untouched = {
  enabled: combineStates({ all: undefined, own: undefined, initial: 'enabled' }),
  registered: combineStates({ all: undefined, own: undefined, initial: 'registered' }),
}

/** Nothing was said yet. */
export function createStandings(): Standings {
  let book: StateBook = new Map()
  const held = new Map<Entry, Map<string, readonly string[]>>()
  const said = (scope: string, name: string) => book.get(scope)?.get(name)
  return {
    of(entry, tenant) {
      if (book.size === 0 && held.size === 0) return untouched[entry.initial]
      const { name } = entry.definition
      const standing = combineStates({
        all: said(allTenants, name),
        own: said(tenant, name),
        initial: entry.initial,
      })
      const changed = held.get(entry)?.get(entry.general ? allTenants : tenant)
      if (changed === undefined) return standing
      return { ...standing, blocked: standing.blocked ?? 'definition_held', changed }
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
