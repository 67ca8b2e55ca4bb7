import type { Store } from '../../contract/store.ts'
import { toFact, type Named, type Part } from './session-parts.ts'
import { mostFound, type FoundTools } from '../state/session-book.ts'

/** What a session found, as long as it is open. */
export function createFoundTools(): FoundTools {
  let names: readonly string[] = []
  return {
    read: () => names,
    async add(more) {
      names = [...new Set([...names, ...more])].slice(0, mostFound)
    },
  }
}

/** What is kept of a session with an id of its own, in every process that has it open. `parts` is the same list as long as nothing changed. */
export function createKeptFound(
  named: Named,
  { tenant, store, parts }: { tenant: string; store: Store; parts: () => readonly Part[] },
): FoundTools {
  let seen: readonly Part[] | undefined
  let names: readonly string[] = []
  let last = 0
  let writing: Promise<unknown> = Promise.resolve()
  const read = (): readonly string[] => {
    const now = parts()
    if (now === seen) return names
    seen = now
    const found = now.filter((each) => each.part === 'found')
    // Two processes may find at once: then their names stand as both of them will order them.
    const order = found.toSorted(
      (left, right) => left.order - right.order || (left.name < right.name ? -1 : 1),
    )
    last = order.at(-1)?.order ?? 0
    // Searches at the same time may have added more than there was room for.
    const next = order.slice(0, mostFound).map(({ name }) => name)
    if (next.join(' ') !== names.join(' ')) names = next
    return names
  }
  const append = async (more: readonly string[]): Promise<void> => {
    const known = new Set(read())
    const first = last + 1
    const added = [...new Set(more)].filter((name) => !known.has(name))
    if (added.length === 0) return
    await store.append([], {
      facts: added.map((name, index) =>
        toFact(tenant, { ...named, part: 'found', name, order: first + index }),
      ),
    })
  }
  return {
    read,
    add(more) {
      const adding = writing.then(() => append(more))
      // One that fails keeps none behind it back.
      writing = adding.catch(() => undefined)
      return adding
    },
  }
}
