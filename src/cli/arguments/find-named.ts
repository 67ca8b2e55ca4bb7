import type { Store } from '../../contract/store.ts'
import { showLine } from '../base/show-safely.ts'
import { readRecord } from '../../kit/result/read-record.ts'

/** What of the store a person names. */
type Named = 'call' | 'session'

/** What help says of naming one. */
export const aboutNames: { readonly [what in Named]: string } = {
  call: 'A call is named by its id, by how that ends, or as "last".',
  session: 'A session is named by its id, by how that ends, or as "last", the one of the last call.',
}

/** Begins that are looked through for one whose id ends so. */
const most = 10_000

/** Fewer letters name nothing by how it ends. */
export const shortestEnd = 4

interface Request {
  readonly what: Named
  /** What the person typed. */
  readonly text: string
  readonly tenants: readonly string[]
}

/**
 * The id of the call or session of these tenants that a person means: in full, as its last characters, or `last`. Where no single one is meant,
 * why not, in words.
 */
export function findNamed(
  store: Pick<Store, 'records'>,
  { what, text, tenants }: Request,
): { id: string } | { issue: string } {
  const shown = showName(text)
  const listing = what === 'call' ? 'handrail evidence list' : 'handrail sessions'
  const missing = { issue: `the store has no ${what} ${shown}. "${listing}" shows the latest.` }
  if (text === 'last') return findLast(store, what, tenants) ?? missing
  if (tenants.some((tenant) => store.records({ tenant, [what]: text, limit: 1 }).next().done === false))
    return { id: text }
  if (text.length < shortestEnd) return missing
  const found = new Set(
    tenants.flatMap((tenant) =>
      [...store.records({ tenant, kind: 'begin', newestFirst: true, limit: most })]
        .map((record) => record[what])
        .filter((id) => id.endsWith(text)),
    ),
  )
  return chooseOne(found, { what, shown, missing })
}

/** What a person typed, as a message quotes it. */
export function showName(text: string): string {
  return `"${showLine(text.slice(0, 100))}"`
}

/** The only one of what was found. If none or several were, why not, in words. */
export function chooseOne(
  found: ReadonlySet<string>,
  { what, shown, missing }: { what: string; shown: string; missing: { issue: string } },
): { id: string } | { issue: string } {
  const [id] = found
  if (id === undefined) return missing
  return found.size === 1
    ? { id }
    : { issue: `several ${what}s end with ${shown}: ${[...found].slice(0, 5).join(', ')}. Name more of it.` }
}

/** The one of these that a person means, by its whole id or by how that ends. If none or several are meant, why not, in words. */
export function findAmong<Item extends { readonly id: string }>(
  all: readonly Item[],
  { what, text, none }: { what: string; text: string; none: string },
): { item: Item } | { issue: string } {
  const exact = all.filter(({ id }) => id === text)
  const meant =
    exact.length > 0 || text.length < shortestEnd ? exact : all.filter(({ id }) => id.endsWith(text))
  const [item] = meant
  const missing = { issue: none }
  if (item === undefined) return missing
  const chosen = chooseOne(new Set(meant.map(({ id }) => id)), { what, shown: showName(text), missing })
  return 'issue' in chosen ? chosen : { item }
}

function findLast(
  store: Pick<Store, 'records'>,
  what: Named,
  tenants: readonly string[],
): { id: string } | undefined {
  const begins = tenants.flatMap((tenant) => [
    ...store.records({ tenant, kind: 'begin', newestFirst: true, limit: 1 }),
  ])
  const timed = begins.map((stored) => ({
    id: stored[what],
    at: readRecord(stored.text, 'begin').at,
  }))
  const [last] = timed.sort((left, right) => right.at - left.at)
  return last && { id: last.id }
}
