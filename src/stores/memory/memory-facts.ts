import type { Fact, FactChange, FactKind } from '../../contract/store.ts'
import { parseJson } from '../../kit/json/parse-json.ts'
import { changedFact } from '../refusals.ts'

/** Facts of one process. */
export interface MemoryFacts {
  read(kind: FactKind, tenant?: string): Fact[]
  version(): number
  /** Throws, and changes nothing, if one is not as its change expects it. */
  change(changes: readonly FactChange[]): void
}

/** No facts yet. */
export function createMemoryFacts(): MemoryFacts {
  const kept = new Map<string, Fact>()
  let version = 0
  return {
    read: (kind, tenant) =>
      [...kept.values()].filter(
        (fact) => fact.kind === kind && (tenant === undefined || fact.tenant === tenant),
      ),
    version: () => version,
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
      }
      if (changes.length > 0) version++
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
