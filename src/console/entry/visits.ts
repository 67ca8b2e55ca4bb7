import { randomBytes } from 'node:crypto'
import type { ConsoleLogin } from '../../contract/mcp/console-login.ts'
import type { Store } from '../../contract/store.ts'
import { isDocumentChanged } from '../../kit/result/is-document-changed.ts'
import type { Roles } from '../base/roles.ts'
import type { CurrentVisits, Visit } from '../base/visit.ts'
import { isCurrent, toKept, type Guest, type Kept } from './kept-guest.ts'
import { toRoles } from './login-rules.ts'
import { toVisitNote } from './visit-note.ts'

type VisitStore = Pick<Store, 'append' | 'documents' | 'digest'>

/** The visits of people to the console, in the store: they outlive the process, and any process on the store knows them. */
export interface Visits extends CurrentVisits {
  /** The secret of a link that lets this guest in, once. */
  invite(guest: Guest): Promise<string>
  /** Begins a visit with the secret of a link, and returns that of the visit; undefined if the link was used, has expired, or never was. */
  enter(link: string): Promise<string | undefined>
  /** Begins the visit of who logged in, and returns its secret; undefined if this log-in began one already. */
  begin(guest: Guest, login: string): Promise<string | undefined>
  /** Undefined if there never was such a visit, it is over, or the rules of now do not let its person in. */
  find(secret: string): Visit | undefined
}

const linkMs = 10 * 60_000
const visitMs = 12 * 60 * 60_000
/** The documents are of no tenant's work. */
const place = { tenant: 'local', group: 'console' } as const

type Kind = 'console_link' | 'console_visit' | 'console_login'

/** `login`: the rules for those who log in, as they are now. */
export function openVisits(store: VisitStore, login: () => ConsoleLogin | undefined): Visits {
  const digestOf = (what: 'link' | 'visit' | 'login' | 'csrf', secret: string): string =>
    store.digest(`console\n${what}\n${secret}`)
  const read = (kind: Kind, id: string): Kept | undefined => {
    const [found] = store.documents({ ...place, kind, id })
    return isCurrent(found?.value) ? found.value : undefined
  }
  const rolesOf = ({ roles, person }: Kept): Roles =>
    person === null ? new Map(Object.entries(roles)) : toRoles(person, login())
  const toVisit = (id: string, kept: Kept, csrf?: string): Visit | undefined => {
    const roles = rolesOf(kept)
    if (roles.size === 0) return undefined
    const { actor, name, since, expiresAt } = kept
    const stands = (): boolean => {
      const now = read('console_visit', id)
      return now !== undefined && isSame(rolesOf(now), roles)
    }
    return { visit: id, actor, name, roles, since, expiresAt, csrf, stands }
  }
  /** Uses up what lets in, once, and begins the visit with it. */
  const begin = async (guest: Guest, used: Use): Promise<string | undefined> => {
    await forgetOld(store)
    const secret = newSecret()
    const id = digestOf('visit', secret)
    const value = toKept(guest, visitMs)
    const note = toVisitNote('visit_began', { ...value, visit: id, roles: rolesOf(value) }, guest.actor)
    try {
      await store.append(note, {
        documents: [
          { ...place, ...used },
          { ...place, kind: 'console_visit', id, value },
        ],
      })
      return secret
    } catch (error) {
      // Another request was faster with the same secret.
      if (isDocumentChanged(error)) return undefined
      throw error
    }
  }
  return {
    async invite(guest) {
      await forgetOld(store)
      const secret = newSecret()
      const id = digestOf('link', secret)
      const value = toKept(guest, linkMs)
      await store.append([], { documents: [{ ...place, kind: 'console_link', id, value }] })
      return secret
    },
    async enter(link) {
      const id = digestOf('link', link)
      const kept = read('console_link', id)
      if (kept === undefined) return undefined
      const { actor, name } = kept
      return begin(
        { actor, name, by: new Map(rolesOf(kept)) },
        { kind: 'console_link', id, value: undefined, was: kept },
      )
    },
    async begin(guest, secret) {
      const id = digestOf('login', secret)
      return begin(guest, { kind: 'console_login', id, value: toKept(guest, linkMs), was: null })
    },
    find(secret) {
      const id = digestOf('visit', secret)
      const kept = read('console_visit', id)
      return kept && toVisit(id, kept, digestOf('csrf', secret))
    },
    list: () =>
      store
        .documents({ ...place, kind: 'console_visit' })
        .flatMap(({ id, value }) => (isCurrent(value) && toVisit(id, value)) || [])
        .toSorted((one, other) => other.since - one.since),
    async end({ visit: id }, by) {
      const kept = read('console_visit', id)
      if (kept === undefined) return
      const note = toVisitNote('visit_ended', { ...kept, visit: id, roles: rolesOf(kept) }, by)
      await store.append(note, { documents: [{ ...place, kind: 'console_visit', id, value: undefined }] })
    },
  }
}

interface Use {
  readonly kind: Kind
  readonly id: string
  readonly value: Kept | undefined
  readonly was: Kept | null
}

function isSame(one: Roles, other: Roles): boolean {
  return one.size === other.size && [...one].every(([tenant, role]) => other.get(tenant) === role)
}

async function forgetOld(store: VisitStore): Promise<void> {
  const old = (['console_link', 'console_visit', 'console_login'] as const).flatMap((kind) =>
    store
      .documents({ ...place, kind })
      .filter(({ value }) => !isCurrent(value))
      .map(({ id }) => ({ ...place, kind, id, value: undefined })),
  )
  if (old.length > 0) await store.append([], { documents: old })
}

/** 256 random bits. */
export function newSecret(): string {
  return randomBytes(32).toString('base64url')
}
