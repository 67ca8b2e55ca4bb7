import type { Fact, FactKind, Store } from '../contract/store.ts'

/** What is made of the facts of a kind. */
export interface FactFollower {
  /** Begins anew: nothing is known. */
  clear(): void
  /** One that is new, or another one than before. */
  put(fact: Fact): void
  remove(name: Pick<Fact, 'tenant' | 'id'>): void
}

/** Keeps what is made of facts as the store has them: each call of what it returns costs as much as what changed, in whatever process. */
export function followFacts(
  store: Pick<Store, 'facts' | 'factsVersion' | 'factsSince'>,
  kind: FactKind,
  follower: FactFollower,
): () => void {
  let version: number | undefined
  return () => {
    const latest = store.factsVersion()
    if (latest === version) return
    const since = version === undefined ? undefined : store.factsSince(kind, version)
    if (since === undefined) {
      follower.clear()
      for (const fact of store.facts(kind)) follower.put(fact)
    } else
      for (const { tenant, id, fact } of since.changed)
        if (fact === undefined) follower.remove({ tenant, id })
        else follower.put(fact)
    // What changed while this was read is read once more.
    version = since?.version ?? latest
  }
}
