import { randomBytes } from 'node:crypto'
import type { Store } from '../../contract/store.ts'
import { isPlainObject } from '../../kit/json/is-plain-object.ts'
import { isDocumentChanged } from '../../kit/result/is-document-changed.ts'
import { consoleRoles, type ConsoleRole, type Visitor } from '../base/roles.ts'

type VisitStore = Pick<Store, 'append' | 'documents' | 'digest'>

/** Who is let in, before the time of the visit is known. */
export type Guest = Pick<Visitor, 'actor' | 'role' | 'tenant'>

/** The visits of people to the console, in the store: they outlive the process, and any process on the store knows them. */
export interface Visits {
  /** The secret of a link that lets this guest in, once. */
  invite(guest: Guest): Promise<string>
  /** Begins a visit with the secret of a link, and returns that of the visit; undefined if the link was used, has expired, or never was. */
  enter(link: string): Promise<string | undefined>
  /** Undefined if there never was such a visit, or it is over. */
  find(secret: string): Visitor | undefined
  end(secret: string): Promise<void>
}

const linkMs = 10 * 60_000
const visitMs = 12 * 60 * 60_000
/** The documents are of no tenant's work. */
const place = { tenant: 'local', group: 'console' } as const

export function openVisits(store: VisitStore): Visits {
  const digestOf = (what: 'link' | 'visit' | 'csrf', secret: string): string =>
    store.digest(`console\n${what}\n${secret}`)
  const keep = async (kind: 'console_link' | 'console_visit', secret: string, value: Kept): Promise<void> => {
    const id = digestOf(kind === 'console_link' ? 'link' : 'visit', secret)
    await store.append([], { documents: [{ ...place, kind, id, value: { ...value } }] })
  }
  const read = (kind: 'console_link' | 'console_visit', id: string): Kept | undefined => {
    const [found] = store.documents({ ...place, kind, id })
    const kept = isKept(found?.value) ? found.value : undefined
    return kept !== undefined && kept.expiresAt > Date.now() ? kept : undefined
  }
  const begin = async (guest: Guest): Promise<string> => {
    await forgetOld(store)
    const secret = newSecret()
    await keep('console_visit', secret, toKept(guest, visitMs))
    return secret
  }
  return {
    async invite(guest) {
      await forgetOld(store)
      const secret = newSecret()
      await keep('console_link', secret, toKept(guest, linkMs))
      return secret
    },
    async enter(link) {
      const id = digestOf('link', link)
      const kept = read('console_link', id)
      if (kept === undefined) return undefined
      try {
        const used = { ...place, kind: 'console_link', id, value: undefined, was: { ...kept } } as const
        await store.append([], { documents: [used] })
      } catch (error) {
        // Another request was faster with the same link.
        if (isDocumentChanged(error)) return undefined
        throw error
      }
      return begin(toGuest(kept))
    },
    find(secret) {
      const id = digestOf('visit', secret)
      const kept = read('console_visit', id)
      if (kept === undefined) return undefined
      return {
        ...toGuest(kept),
        csrf: digestOf('csrf', secret),
        expiresAt: kept.expiresAt,
        stands: () => read('console_visit', id) !== undefined,
      }
    },
    async end(secret) {
      const id = digestOf('visit', secret)
      await store.append([], { documents: [{ ...place, kind: 'console_visit', id, value: undefined }] })
    },
  }
}

/** A guest as the store has them: the secret of the link or visit is its id, as a digest. */
type Kept = { actor: string; role: ConsoleRole; tenant: string | null; expiresAt: number }

function toKept({ actor, role, tenant }: Guest, ms: number): Kept {
  return { actor, role, tenant: tenant ?? null, expiresAt: Date.now() + ms }
}

function toGuest({ actor, role, tenant }: Kept): Guest {
  return { actor, role, tenant: tenant ?? undefined }
}

function isKept(value: unknown): value is Kept {
  return (
    isPlainObject(value) &&
    typeof value['actor'] === 'string' &&
    typeof value['expiresAt'] === 'number' &&
    (value['tenant'] === null || typeof value['tenant'] === 'string') &&
    consoleRoles.some((role) => role === value['role'])
  )
}

async function forgetOld(store: VisitStore): Promise<void> {
  const now = Date.now()
  const old = (['console_link', 'console_visit'] as const).flatMap((kind) =>
    store
      .documents({ ...place, kind })
      .filter(({ value }) => !isKept(value) || value.expiresAt <= now)
      .map(({ id }) => ({ ...place, kind, id, value: undefined })),
  )
  if (old.length > 0) await store.append([], { documents: old })
}

/** 256 random bits. */
function newSecret(): string {
  return randomBytes(32).toString('base64url')
}
