import type { EventName, NoteRecord } from '../../contract/evidence.ts'
import type { Entry } from '../../contract/store.ts'
import { everyTenant } from '../../contract/mcp/console-login.ts'
import type { Roles } from '../base/roles.ts'

interface Told {
  readonly visit: string
  readonly actor: string
  readonly name: string
  readonly expiresAt: number
  readonly roles: Roles
}

/** That a visit began or ended, in the chain of each tenant that it is of; of one of all tenants in that of what concerns all, whose tenant is empty. */
export function toVisitNote(event: 'visit_began' | 'visit_ended', told: Told, by: string): Entry[] {
  const { visit, actor, name, expiresAt, roles } = told
  const who = name === actor ? actor : `${name} (${actor})`
  const what =
    event === 'visit_began'
      ? `${who} entered the console`
      : by === actor
        ? `${who} left the console`
        : `${by} ended the visit of ${who} to the console`
  return [...new Set(tenantsOfNote(roles))].map((tenant) =>
    toEntry({
      event,
      tenant,
      actor: by,
      message: what,
      data: {
        visit,
        for: actor,
        until: expiresAt,
        role: roles.get(tenant) ?? roles.get(everyTenant) ?? null,
      },
    }),
  )
}

/** That a person logged in, and no rule let them in. */
export function toRefusalNote(actor: string, name: string): Entry[] {
  const message = `${name} (${actor}) logged in, and no rule of gateway.json lets them into the console`
  return [toEntry({ event: 'visit_refused', tenant: '', actor, message })]
}

function tenantsOfNote(roles: Roles): string[] {
  const named = [...roles.keys()].map((tenant) => (tenant === everyTenant ? '' : tenant))
  return named.length === 0 ? [''] : named
}

function toEntry(
  about: { event: EventName } & Pick<NoteRecord, 'tenant' | 'actor' | 'message' | 'data'>,
): Entry {
  return { record: { kind: 'note', session: '', at: Date.now(), ...about }, body: null }
}
