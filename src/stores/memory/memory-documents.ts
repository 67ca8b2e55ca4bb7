import type { Document, DocumentChange, DocumentQuery } from '../../contract/documents.ts'
import { parseJson } from '../../kit/json/parse-json.ts'
import { changedDocument, checkDocumentQuery } from '../refusals.ts'
import { SortedMap } from './sorted-map.ts'

/** Documents of one process. */
export interface MemoryDocuments {
  read(query: DocumentQuery): Document[]
  /** Throws if one is not as its change expects it. Nothing is changed before what it returns is called, in the same turn. */
  prepare(changes: readonly DocumentChange[]): () => void
}

type Name = Omit<Document, 'value'>
/** Groups by name, and in each the texts of its documents by id. */
type Shelf = SortedMap<SortedMap<string>>

/** No documents yet. Values are kept as text, so that no caller can change them from outside. */
export function createMemoryDocuments(): MemoryDocuments {
  const shelves = new Map<string, Shelf>()
  const textOf = (name: Name): string => shelves.get(shelfOf(name))?.get(name.group)?.get(name.id) ?? 'null'
  const write = (name: Name, text: string | undefined): void => {
    let shelf = shelves.get(shelfOf(name))
    if (shelf === undefined) shelves.set(shelfOf(name), (shelf = new SortedMap()))
    let group = shelf.get(name.group)
    if (group === undefined) shelf.set(name.group, (group = new SortedMap()))
    if (text === undefined) group.delete(name.id)
    else group.set(name.id, text)
    if (group.size === 0) shelf.delete(name.group)
  }
  return {
    read(query) {
      checkDocumentQuery(query)
      const { tenant, kind, limit = Number.POSITIVE_INFINITY } = query
      const found: Document[] = []
      for (const { group, id, text } of walk(shelves.get(shelfOf(query)), query)) {
        if (found.length >= limit) break
        found.push({ tenant, kind, group, id, value: parseJson(text) })
      }
      return found
    },
    prepare(changes) {
      if (changes.length === 0) return writeNothing
      const next = new Map<string, { name: Name; text: string | undefined }>()
      for (const change of changes) {
        const { tenant, kind, group, id, value, was } = change
        const key = JSON.stringify([tenant, kind, group, id])
        const before = next.has(key) ? (next.get(key)?.text ?? 'null') : textOf(change)
        if (was !== undefined && before !== JSON.stringify(was)) throw changedDocument(change)
        const text = value === undefined ? undefined : JSON.stringify(value)
        next.set(key, { name: { tenant, kind, group, id }, text })
      }
      return () => {
        for (const { name, text } of next.values()) write(name, text)
      }
    },
  }
}

const writeNothing = (): void => {}

interface Found {
  group: string
  id: string
  text: string
}

function* walk(shelf: Shelf | undefined, query: DocumentQuery): IterableIterator<Found> {
  const { group, id, after, newestFirst: backwards = false } = query
  const isBehind = (one: Pick<Found, 'group' | 'id'>): boolean =>
    after === undefined || (backwards ? order(one, after) < 0 : order(one, after) > 0)
  if (group !== undefined && id !== undefined) {
    const text = shelf?.get(group)?.get(id)
    if (text !== undefined && isBehind({ group, id })) yield { group, id, text }
    return
  }
  for (const [name, texts] of shelf?.entries({ from: group ?? after?.group, backwards }) ?? []) {
    if (group !== undefined && name !== group) return
    const from = name === after?.group ? after.id : undefined
    for (const [one, text] of texts.entries({ from, backwards }))
      if (isBehind({ group: name, id: one })) yield { group: name, id: one, text }
  }
}

function order(one: Pick<Found, 'group' | 'id'>, other: Pick<Found, 'group' | 'id'>): number {
  if (one.group !== other.group) return Buffer.compare(Buffer.from(one.group), Buffer.from(other.group))
  return Buffer.compare(Buffer.from(one.id), Buffer.from(other.id))
}

function shelfOf({ tenant, kind }: Pick<Document, 'tenant' | 'kind'>): string {
  return JSON.stringify([tenant, kind])
}
