import type { ToolRestriction } from '../../contract/runtime.ts'
import type { Fact, FactChange, Store } from '../../contract/store.ts'
import { countKeptCalls } from './count-kept-calls.ts'
import { createKeptFound } from './create-found-tools.ts'
import {
  createSessionParts,
  nameOf,
  toFact,
  without,
  type Named,
  type Part,
  type SessionParts,
} from './session-parts.ts'
import type {
  HeldApproval,
  KeptPart,
  KeptSession,
  SessionApprovals,
  SessionBook,
} from '../state/session-book.ts'

/** What a book of sessions stands on. */
export interface SessionBookSurroundings {
  readonly store: Store
  readonly logError: (cause: unknown) => void
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** Milliseconds of a monotonic clock. */
  readonly tick: () => number
}

/** What is kept of a session that was not opened for so long is forgotten. */
const keptMs = 90 * 86_400_000
/** How often it is looked for such sessions. */
const sweepMs = 3_600_000

/** The sessions in a store that were opened by an id of their own. */
export function createSessionBook(around: SessionBookSurroundings): SessionBook {
  const { store, now } = around
  const kept = createSessionParts(store)
  const parts = (tenant: string, id: string): readonly Part[] => kept().of(tenant, id)
  const sweep = createSweep(kept)
  const open = createShared<ReturnType<typeof countKeptCalls>>()
  const isOf = (each: Named, { actor, role }: Pick<Named, 'actor' | 'role'>): boolean =>
    each.actor === actor && each.role === role
  return {
    findIssue(id, principal) {
      const owners = parts(principal.tenant, id).filter(({ part }) => part === 'owner')
      return owners.length === 0 || owners.some((owner) => isOf(owner, principal))
        ? undefined
        : `The session "${id}" is of another actor or role. Use another id.`
    },
    open(id, principal) {
      const { tenant, actor, role } = principal
      const own = createFilter(
        () => parts(tenant, id),
        (each) => isOf(each, principal),
      )
      const before = own().find((each) => each.part === 'owner')
      const madeAt = before?.madeAt ?? now()
      const name = { session: id, actor, role }
      const owner: Part = { ...name, part: 'owner', madeAt, openedAt: now() }
      const here: Part = { ...name, part: 'open', writer: store.writer }
      const isGone = (part: Part): boolean => part.part === 'open' && !store.lives(part.writer)
      const gone = own().filter((part) => isGone(part))
      write(
        [...sweep(now()), ...gone.map((part) => without(toFact(tenant, part)))].concat(
          toFact(tenant, owner),
          toFact(tenant, here),
        ),
        around,
      )
      const key = toFact(tenant, owner).id
      const isShared = (part: Part): boolean =>
        part.part === 'open' && part.writer !== store.writer && store.lives(part.writer)
      const counted = open.take(nameOf(tenant, key), () =>
        countKeptCalls(
          { store, tenant, session: id, since: madeAt },
          { isNew: before === undefined, others: createFilter(own, isShared), now: own },
        ),
      )
      const close = (): void => {
        if (open.release(nameOf(tenant, key))) write([without(toFact(tenant, here))], around)
      }
      return { ...openKept(tenant, name, { around, parts: own }), ...counted, close }
    },
  }
}

/** Those of a list that pass: the same list for as long as that one is the same. */
function createFilter(all: () => readonly Part[], passes: (part: Part) => boolean): () => readonly Part[] {
  let seen: readonly Part[] | undefined
  let passed: readonly Part[] = []
  return () => {
    const now = all()
    if (now !== seen) passed = now.filter(passes)
    seen = now
    return passed
  }
}

interface Kept {
  readonly around: SessionBookSurroundings
  /** The same list for as long as nothing changed. */
  readonly parts: () => readonly Part[]
}

/** What all who have something open share, until the last of them releases it. */
function createShared<Value>() {
  const shared = new Map<string, { value: Value; times: number }>()
  return {
    take(key: string, make: () => Value): Value {
      const one = shared.get(key) ?? { value: make(), times: 0 }
      one.times++
      shared.set(key, one)
      return one.value
    },
    /** Whether that was the last. */
    release(key: string): boolean {
      const one = shared.get(key)
      if (one === undefined || --one.times > 0) return false
      return shared.delete(key)
    },
  }
}

function openKept(
  tenant: string,
  name: Named,
  kept: Kept,
): Omit<KeptSession, 'counts' | 'catchUp' | 'close'> {
  const { store } = kept.around
  return {
    id: name.session,
    approvals: createApprovals(tenant, name, kept),
    ...createKeptRestrictions(tenant, name, kept),
    plan: createKeptPart(tenant, kept, {
      pick: (part) => (part.part === 'plan' ? part.plan : undefined),
      toPart: (plan) => ({ ...name, part: 'plan', plan }),
    }),
    todos: createKeptPart(tenant, kept, {
      pick: (part) => (part.part === 'todos' ? part.todos : undefined),
      toPart: (todos) => ({ ...name, part: 'todos', todos }),
    }),
    skills: createKeptSkills(tenant, name, kept),
    found: createKeptFound(name, { tenant, store, parts: kept.parts }),
    forget: async () =>
      store.append([], { facts: kept.parts().map((part) => without(toFact(tenant, part))) }),
  }
}

/** A part that a session has one of. */
function createKeptPart<Value>(
  tenant: string,
  { around, parts }: Kept,
  form: { pick: (part: Part) => Value | undefined; toPart: (value: Value) => Part },
): KeptPart<Value> {
  let seen: readonly Part[] | undefined
  let current: Value | undefined
  const read = (): Value | undefined => {
    const now = parts()
    if (now !== seen) current = now.map(form.pick).find((value) => value !== undefined)
    seen = now
    return current
  }
  return {
    read,
    async write(value) {
      const last = value ?? read()
      if (last === undefined) return
      const fact = toFact(tenant, form.toPart(last))
      await around.store.append([], { facts: [value === undefined ? without(fact) : fact] })
    },
  }
}

/** The skills that a session follows in every process that has it open. */
function createKeptSkills(tenant: string, name: Named, { around, parts }: Kept): KeptSession['skills'] {
  let seen: readonly Part[] | undefined
  let loaded: readonly Extract<Part, { part: 'skill' }>[] = []
  let told: ReturnType<KeptSession['skills']['list']> = []
  const look = (): typeof loaded => {
    const now = parts()
    if (now === seen) return loaded
    seen = now
    loaded = now.filter((each) => each.part === 'skill').toSorted((left, right) => left.order - right.order)
    told = loaded.map(({ skill }) => skill)
    return loaded
  }
  return {
    list() {
      look()
      return told
    },
    async put(skill) {
      const order = Math.max(0, ...look().map((each) => each.order)) + 1
      const fact = toFact(tenant, { ...name, part: 'skill', order, skill })
      await around.store.append([], { facts: [fact] })
    },
    async remove(names) {
      const gone = look().filter(({ skill }) => names.includes(skill.name))
      if (gone.length === 0) return
      await around.store.append([], { facts: gone.map((part) => without(toFact(tenant, part))) })
    },
  }
}

type Restricting = Extract<Part, { part: 'restriction' }>

/** What narrows a session in every process that has it open. Between a write and the store it counts here already. */
function createKeptRestrictions(
  tenant: string,
  name: Named,
  { around, parts }: Kept,
): Pick<KeptSession, 'restrictions' | 'restrict'> {
  /** What this process wrote and the store does not have yet; undefined for what was lifted. */
  const pending = new Map<string, Restricting | undefined>()
  let seen: readonly Part[] | undefined
  let inForce: readonly Restricting[] = []
  let told: readonly ToolRestriction[] = []
  const look = (): readonly Restricting[] => {
    const now = parts()
    if (now === seen) return inForce
    seen = now
    const stored = now.filter((each) => each.part === 'restriction')
    for (const [id, mine] of pending)
      if (stored.find((each) => each.name === id)?.order === mine?.order) pending.delete(id)
    inForce = [...stored.filter((each) => !pending.has(each.name)), ...pending.values()]
      .filter((each) => each !== undefined)
      .toSorted((left, right) => left.order - right.order)
    told = inForce.map(({ restriction }) => restriction)
    return inForce
  }
  const put = (id: string, mine: Restricting | undefined, fact: FactChange): void => {
    pending.set(id, mine)
    seen = undefined
    write([fact], around)
  }
  return {
    restrictions() {
      look()
      return told
    },
    restrict(id, restriction) {
      const order = Math.max(0, ...look().map((each) => each.order)) + 1
      const mine: Restricting = { ...name, part: 'restriction', name: id, order, restriction }
      put(id, mine, toFact(tenant, mine))
      return () => {
        if (look().some((each) => each.name === id && each.order === order))
          put(id, undefined, without(toFact(tenant, mine)))
      }
    },
  }
}

/** The yeses for a session, as every process has them that has it open. Between a write and the store it counts here already. */
function createApprovals(tenant: string, name: Named, { around, parts }: Kept): SessionApprovals {
  const held = new Map<string, HeldApproval>()
  /** Calls whose yes was taken back here, by key, while the store has it still. */
  const gone = new Map<string, string>()
  let seen: readonly Part[] | undefined
  const current = (): Map<string, HeldApproval> => {
    const now = parts()
    if (now === seen) return held
    seen = now
    const stored = new Map(
      now.flatMap((each) => (each.part === 'approval' ? [[each.key, each.approval]] : [])),
    )
    for (const [key, call] of gone) if (stored.get(key)?.call !== call) gone.delete(key)
    for (const key of held.keys()) if (!stored.has(key)) held.delete(key)
    for (const [key, approval] of stored)
      if (held.get(key)?.call !== approval.call && gone.get(key) !== approval.call)
        held.set(key, { ...approval, until: endOf(approval, around) })
    return held
  }
  const toApproval = (key: string, { until: _until, ...approval }: HeldApproval): Fact =>
    toFact(tenant, { ...name, part: 'approval', key, approval })
  return {
    get size() {
      return current().size
    },
    get: (key) => current().get(key),
    entries: () => current().entries(),
    set(key, approval) {
      gone.delete(key)
      current().set(key, approval)
      write([toApproval(key, approval)], around)
    },
    delete(key) {
      const { call } = current().get(key) ?? noApproval
      gone.set(key, call)
      held.delete(key)
      write([without(toApproval(key, noApproval))], around)
    },
    clear() {
      // All of them are there when the session is opened again.
    },
  }
}

const noApproval: HeldApproval = { call: '', tool: '', identity: '', scope: '', givenAt: 0, until: 0 }

/** By the clock of this process, whatever becomes of the time of day from here on. */
function endOf(
  { expiresAt }: Pick<HeldApproval, 'expiresAt'>,
  { now, tick }: SessionBookSurroundings,
): number {
  return expiresAt === undefined ? Number.POSITIVE_INFINITY : tick() + (expiresAt - now())
}

/** Takes away what is kept of sessions that were not opened for long; looks for them now and then. */
function createSweep(kept: () => SessionParts): (time: number) => FactChange[] {
  let last = Number.NEGATIVE_INFINITY
  return (time) => {
    if (Math.abs(time - last) < sweepMs) return []
    last = time
    const all = [...kept().all()]
    const old = new Set(
      all.flatMap(([{ tenant }, part]) =>
        part.part === 'owner' && part.openedAt + keptMs <= time ? [nameOf(tenant, part.session)] : [],
      ),
    )
    return all
      .filter(([{ tenant }, { session }]) => old.has(nameOf(tenant, session)))
      .map(([{ tenant, kind, id }]) => ({ tenant, kind, id, value: undefined }))
  }
}

/** A yes that is lost is asked for anew; a restriction that is lost counts in this process all the same. */
function write(facts: readonly FactChange[], { store, logError }: SessionBookSurroundings): void {
  if (facts.length > 0) store.append([], { facts })?.catch(logError)
}
