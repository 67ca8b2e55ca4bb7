import type { Fact, FactChange, FactKind } from '../../contract/store.ts'

/** Facts of one process. */
export interface MemoryFacts {
  read(kind: FactKind, tenant?: string): Fact[]
  version(): number
  change(changes: readonly FactChange[]): void
}

/** No facts yet. */
export function createMemoryFacts(): MemoryFacts {
  /** Values are kept as text, so that nobody can change them from outside. */
  const kept = new Map<string, Omit<Fact, 'value'> & { value: string }>()
  let version = 0
  return {
    read: (kind, tenant) =>
      [...kept.values()]
        .filter((fact) => fact.kind === kind && (tenant === undefined || fact.tenant === tenant))
        .map((fact) => ({ ...fact, value: JSON.parse(fact.value) as Fact['value'] })),
    version: () => version,
    change(changes) {
      for (const { tenant, kind, id, value } of changes) {
        const name = JSON.stringify([tenant, kind, id])
        if (value === undefined) kept.delete(name)
        else kept.set(name, { tenant, kind, id, value: JSON.stringify(value) })
      }
      if (changes.length > 0) version++
    },
  }
}
