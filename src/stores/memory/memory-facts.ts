import type { Fact, FactChange, FactKind, Store } from '../../contract/store.ts'
import { parseJson } from '../../kit/json/parse-json.ts'
import { changedFact } from '../refusals.ts'

/** Facts of one process. */
export interface MemoryFacts {
  read(kind: FactKind, tenant?: string): Fact[]
  version(): number
  since: Store['factsSince']
  /** Throws, and changes nothing, if one is not as its change expects it. */
  change(changes: readonly FactChange[]): void
}

/** So many changes are remembered at least. */
const rememberedChanges = 1_000

/** No facts yet. */
export function createMemoryFacts(): MemoryFacts {
  const kept = new Map<string, Fact>()
  /** Names of what changed, the oldest first: the last one made the version of now. */
  let changed: Omit<Fact, 'value'>[] = []
  let version = 0
  return {
    read: (kind, tenant) =>
      [...kept.values()].filter(
        (fact) => fact.kind === kind && (tenant === undefined || fact.tenant === tenant),
      ),
    version: () => version,
    since(kind, since) {
      const count = version - since
      if (count < 0 || count > changed.length) return undefined
      const names = new Map(
        changed
          .slice(changed.length - count)
          .flatMap((each) => (each.kind === kind ? [[nameOf(each), each]] : [])),
      )
      return { version, changed: [...names].map(([name, each]) => ({ ...each, fact: kept.get(name) })) }
    },
    change(changes) {
      for (const change of changes) {
        const now = kept.get(nameOf(change))?.value ?? null
        if (change.was !== undefined && JSON.stringify(now) !== JSON.stringify(change.was))
          throw changedFact(change)
      }
      for (const { tenant, kind, id, value } of changes) {
        const name = nameOf({ tenant, kind, id })
        if (value === undefined) kept.delete(name)
        else kept.set(name, toFact({ tenant, kind, id }, JSON.stringify(value)))
        changed.push({ tenant, kind, id })
      }
      version += changes.length
      if (changed.length > 2 * rememberedChanges) changed = changed.slice(-rememberedChanges)
    },
  }
}

function nameOf({ tenant, kind, id }: Pick<Fact, 'tenant' | 'kind' | 'id'>): string {
  return JSON.stringify([tenant, kind, id])
}

/** Values are kept as text, so that no caller can change them from outside. */
function toFact(about: Omit<Fact, 'value'>, text: string): Fact {
  return Object.freeze({
    ...about,
    get value() {
      return parseJson(text)
    },
  })
}
