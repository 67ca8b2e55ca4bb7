import type { Json } from '../../contract/base/json.ts'
import type { DocumentChange, DocumentKind } from '../../contract/documents.ts'
import type { Store } from '../../contract/store.ts'

/** Names a document of the tenant. */
export interface Name {
  kind: DocumentKind
  group: string
  id: string
}

interface Known {
  name: Name
  /** Null if it is not there. */
  stored: Json
  /** Whether it has to be so until the draft is written. */
  needed: boolean
}

interface Page {
  kind: DocumentKind
  group: string
  ids: string[]
  whole: boolean
}

type Written = Map<string, { name: Name; value: Json | undefined }>

const pageSize = 64

/**
 * Changes of documents that are to be written together, over what the store holds. What they are based on has to be unchanged when they are written. Values
 * that it returns are not to be changed.
 */
export class Draft {
  readonly #store: Pick<Store, 'documents'>
  readonly #tenant: string
  readonly #known = new Map<string, Known>()
  readonly #pages = new Map<string, Page>()
  readonly #kept: Written = new Map()
  #trial: Written = new Map()

  constructor(store: Pick<Store, 'documents'>, tenant: string) {
    this.#store = store
    this.#tenant = tenant
  }

  /** Does work that writes all that it writes, or nothing if it throws. `wrote`: whether it wrote anything. */
  attempt<T>(work: () => T): { done: T; wrote: boolean } {
    this.#trial = new Map()
    const done = work()
    const wrote = this.#trial.size > 0
    for (const [key, change] of this.#trial) this.#kept.set(key, change)
    this.#trial = new Map()
    return { done, wrote }
  }

  /**
   * Whether all that was read is still so. If it is, it was so all at one time; else it may be a mixture of what another process found and of what that one
   * made of it.
   */
  isCurrent(): boolean {
    for (const { name, stored } of this.#known.values())
      if (JSON.stringify(this.#find(name)) !== JSON.stringify(stored)) return false
    for (const { kind, group, ids, whole } of this.#pages.values()) {
      const limit = whole ? ids.length + 1 : ids.length
      const found = this.#store.documents({ tenant: this.#tenant, kind, group, limit })
      if (found.map(({ id }) => id).join(' ') !== ids.join(' ')) return false
    }
    return true
  }

  /** The value of a document, which has to stay that until the draft is written; null if it is not there. */
  read(name: Name): Json {
    const known = this.#know(name)
    known.needed = true
    return this.#valueOf(known)
  }

  /** The same of a document that cannot change without another one that was read. */
  look(name: Name): Json {
    return this.#valueOf(this.#know(name))
  }

  /** Keeps a value under this name, or with undefined none. */
  write(name: Name, value: Json | undefined): void {
    this.#trial.set(keyOf(name), { name, value })
  }

  /** Ids of the documents of a group, in order. Nothing may be written to the group meanwhile. */
  *ids(kind: DocumentKind, group: string): IterableIterator<string> {
    const changed = new Map<string, boolean>()
    for (const { name, value } of [...this.#kept.values(), ...this.#trial.values()])
      if (name.kind === kind && name.group === group) changed.set(name.id, value !== undefined)
    const added = [...changed].flatMap(([id, isThere]) => (isThere ? [id] : [])).toSorted(byBytes)
    for (const id of this.#storedIds(kind, group)) {
      while (added[0] !== undefined && byBytes(added[0], id) < 0) yield added.shift() ?? ''
      if (!changed.has(id)) yield id
    }
    yield* added
  }

  /** What has to be written. */
  changes(): DocumentChange[] {
    const changes: DocumentChange[] = []
    for (const [key, { name, stored, needed }] of this.#known) {
      const written = this.#kept.get(key)
      const value = written === undefined ? (stored ?? undefined) : written.value
      if (needed || written !== undefined) changes.push({ tenant: this.#tenant, ...name, value, was: stored })
    }
    for (const [key, { name, value }] of this.#kept)
      if (!this.#known.has(key)) changes.push({ tenant: this.#tenant, ...name, value })
    return this.#kept.size === 0 ? [] : changes
  }

  #know(name: Name): Known {
    const key = keyOf(name)
    let known = this.#known.get(key)
    if (known === undefined) {
      this.#known.set(key, (known = { name, stored: this.#find(name), needed: false }))
    }
    return known
  }

  #find(name: Name): Json {
    const [found] = this.#store.documents({ tenant: this.#tenant, ...name })
    return found?.value ?? null
  }

  #valueOf({ name, stored }: Known): Json {
    const key = keyOf(name)
    const written = this.#trial.get(key) ?? this.#kept.get(key)
    return written === undefined ? stored : (written.value ?? null)
  }

  *#storedIds(kind: DocumentKind, group: string): IterableIterator<string> {
    const key = JSON.stringify([kind, group])
    let page = this.#pages.get(key)
    if (page === undefined) this.#pages.set(key, (page = { kind, group, ids: [], whole: false }))
    for (let at = 0; ; at++) {
      if (at >= page.ids.length && !page.whole) this.#turn(page)
      const id = page.ids[at]
      if (id === undefined) return
      yield id
    }
  }

  #turn(page: Page): void {
    const { kind, group } = page
    const last = page.ids.at(-1)
    const after = last === undefined ? {} : { after: { group, id: last } }
    // A draft mostly needs the first few.
    const limit = page.ids.length === 0 ? 4 : pageSize
    const found = this.#store.documents({ tenant: this.#tenant, kind, group, limit, ...after })
    page.ids.push(...found.map(({ id }) => id))
    page.whole = found.length < limit
  }
}

function keyOf({ kind, group, id }: Name): string {
  return `${kind} ${group}\n${id}`
}

/** Ids of documents here are plain ASCII, whose bytes stand as their letters do. */
function byBytes(one: string, other: string): number {
  if (one === other) return 0
  return one < other ? -1 : 1
}
