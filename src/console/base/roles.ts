import { consoleRoles, everyTenant, type ConsoleRole } from '../../contract/mcp/console-login.ts'

/** The role of a person by tenant; that of `everyTenant` holds in each, beside the tenant's own. */
export type Roles = ReadonlyMap<string, ConsoleRole>

/** A person, or a program with a token, that is logged in. */
export interface Visitor {
  /** As evidence names them. */
  readonly actor: string
  /** As pages name them. */
  readonly name: string
  readonly roles: Roles
  /** The public name of the visit; undefined of a token. */
  readonly visit: string | undefined
  /** What changes have to show, if the visitor came with a cookie. */
  readonly csrf: string | undefined
  /** When the visit ends, in milliseconds since the epoch. */
  readonly expiresAt: number
  /** Whether the visit goes on, with these roles: it may be ended elsewhere, and its roles may be others by now. */
  readonly stands: () => boolean
}

/** Who has roles. */
export type Holder = Pick<Visitor, 'roles'>

/** What a person is in a tenant; undefined if they are nothing there, and see nothing of it. */
export function roleIn({ roles }: Holder, tenant: string): ConsoleRole | undefined {
  return higher(roles.get(everyTenant), roles.get(tenant))
}

/** What a person is in a tenant, in words. */
export function describeRole(visitor: Pick<Visitor, 'name' | 'roles'>, tenant: string): string {
  const role = roleIn(visitor, tenant)
  const place = tenant === everyTenant ? 'that is for all tenants' : 'there'
  return role === undefined
    ? `"${visitor.name}" has no role ${place}`
    : `"${visitor.name}" is "${role}" there`
}

/** The higher one of two roles. */
export function higher(
  one: ConsoleRole | undefined,
  other: ConsoleRole | undefined,
): ConsoleRole | undefined {
  return rank(one) >= rank(other) ? one : other
}

/** Whether a person has at least this role in a tenant. */
export function mayDo(holder: Holder, needed: ConsoleRole, tenant: string): boolean {
  return rank(roleIn(holder, tenant)) >= rank(needed)
}

/** The tenants in which a person has at least this role, of those that there are and those that their roles name. */
export function tenantsOf(
  holder: Holder,
  all: readonly string[],
  needed: ConsoleRole = 'viewer',
): readonly string[] {
  const known = new Set([...all, ...holder.roles.keys()])
  known.delete(everyTenant)
  return [...known].filter((tenant) => mayDo(holder, needed, tenant))
}

/** Whether something of this tenant is shown to a person. */
export function sees(holder: Holder, tenant: string): boolean {
  return mayDo(holder, 'viewer', tenant)
}

/** The tenant that is meant if none is named: `local` if the person sees it, else the first that they have a role in. */
export function usualTenant(holder: Holder): string {
  return sees(holder, 'local') ? 'local' : (tenantsOf(holder, [])[0] ?? 'local')
}

function rank(role: ConsoleRole | undefined): number {
  return role === undefined ? -1 : consoleRoles.indexOf(role)
}
