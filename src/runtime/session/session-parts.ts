import type { Json } from '../../contract/base/json.ts'
import type { LoadedSkill } from '../../contract/services/skill.ts'
import type { Todo } from '../../contract/services/todo.ts'
import type { ToolRestriction } from '../../contract/runtime.ts'
import type { Fact, FactChange, Store } from '../../contract/store.ts'
import { followFacts } from '../../kit/follow-facts.ts'
import { isPlainObject } from '../../kit/json/is-plain-object.ts'
import { parseJson } from '../../kit/json/parse-json.ts'
import type { EnteredPlan, HeldApproval } from '../state/session-book.ts'

/** What is kept of a session, each in a fact of its own, so that two processes can add to it at the same time. */
export type Part = Named &
  (
    | { part: 'owner'; madeAt: number; openedAt: number }
    | { part: 'open'; writer: string }
    | { part: 'approval'; key: string; approval: Omit<HeldApproval, 'until'> }
    | { part: 'restriction'; name: string; order: number; restriction: ToolRestriction }
    | { part: 'plan'; plan: EnteredPlan }
    | { part: 'skill'; order: number; skill: LoadedSkill }
    | { part: 'todos'; todos: readonly Todo[] }
    | { part: 'found'; name: string; order: number }
  )

/** Whose it is: what is kept for one owner is nothing to another, also if both opened it at once. */
export interface Named {
  readonly session: string
  readonly actor: string
  readonly role: string
}

export interface SessionParts {
  /** The same list for as long as nothing of it changed. */
  of(tenant: string, id: string): readonly Part[]
  all(): Iterable<readonly [fact: Fact, part: Part]>
}

/** What is kept of the sessions in a store, as it is now. */
export function createSessionParts(store: Store): () => SessionParts {
  const parts = new Map<string, readonly [Fact, Part]>()
  const bySession = new Map<string, readonly Part[]>()
  const none: readonly Part[] = []
  const remove = ({ tenant, id }: Pick<Fact, 'tenant' | 'id'>): void => {
    const part = parts.get(nameOf(tenant, id))?.[1]
    if (part === undefined) return
    parts.delete(nameOf(tenant, id))
    const name = nameOf(tenant, part.session)
    const rest = bySession.get(name)?.filter((each) => each !== part) ?? none
    if (rest.length === 0) bySession.delete(name)
    else bySession.set(name, rest)
  }
  const refresh = followFacts(store, 'session', {
    clear() {
      parts.clear()
      bySession.clear()
    },
    put(fact) {
      remove(fact)
      const { tenant, id, value } = fact
      if (!isPart(value)) return
      parts.set(nameOf(tenant, id), [fact, value])
      const name = nameOf(tenant, value.session)
      bySession.set(name, [...(bySession.get(name) ?? none), value])
    },
    remove,
  })
  const read: SessionParts = {
    of: (tenant, id) => bySession.get(nameOf(tenant, id)) ?? none,
    all: () => parts.values(),
  }
  return () => {
    refresh()
    return read
  }
}

/** Names a session in a map. */
export function nameOf(tenant: string, id: string): string {
  return `${tenant} ${id}`
}

/** A part as a store keeps it. */
export function toFact(tenant: string, part: Part): Fact {
  const id = [part.session, part.actor, part.role, part.part, restOf(part)].join(' ')
  return { tenant, kind: 'session', id, value: toValue(part) }
}

function restOf(part: Part): string {
  if (part.part === 'approval') return part.key
  if (part.part === 'open') return part.writer
  if (part.part === 'skill') return part.skill.name
  return part.part === 'restriction' || part.part === 'found' ? part.name : ''
}

function toValue(part: Part): Json {
  return parseJson(JSON.stringify(part))
}

function isPart(value: unknown): value is Part {
  if (!isPlainObject(value)) return false
  if (!['session', 'actor', 'role'].every((field) => typeof value[field] === 'string')) return false
  if (value['part'] === 'owner')
    return typeof value['madeAt'] === 'number' && typeof value['openedAt'] === 'number'
  if (value['part'] === 'open') return typeof value['writer'] === 'string'
  if (value['part'] === 'approval')
    return typeof value['key'] === 'string' && isPlainObject(value['approval'])
  if (value['part'] === 'found')
    return typeof value['name'] === 'string' && typeof value['order'] === 'number'
  if (value['part'] === 'todos') return Array.isArray(value['todos'])
  const { part } = value
  return (part === 'restriction' || part === 'plan' || part === 'skill') && isPlainObject(value[part])
}

/** What takes a fact away. */
export function without(fact: Fact): FactChange {
  return { ...fact, value: undefined }
}
