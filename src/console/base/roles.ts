/** What a person may do in the console. Each may do what those before it may. */
export const consoleRoles = ['viewer', 'approver', 'operator', 'admin'] as const

export type ConsoleRole = (typeof consoleRoles)[number]

/** A person, or a program with a token, that is logged in. */
export interface Visitor {
  readonly actor: string
  readonly role: ConsoleRole
  /** Undefined for one who sees all tenants. */
  readonly tenant: string | undefined
  /** What changes have to show, if the visitor came with a cookie. */
  readonly csrf: string | undefined
  /** When the visit ends, in milliseconds since the epoch. */
  readonly expiresAt: number
  /** Whether the visit goes on: it may be ended elsewhere. */
  readonly stands: () => boolean
}

export function mayDo({ role }: Pick<Visitor, 'role'>, needed: ConsoleRole): boolean {
  return consoleRoles.indexOf(role) >= consoleRoles.indexOf(needed)
}

/** The tenants that a visitor sees, of those that there are. */
export function tenantsOf({ tenant }: Pick<Visitor, 'tenant'>, all: readonly string[]): readonly string[] {
  return tenant === undefined ? all : [tenant]
}

/** Whether something of this tenant is shown to a visitor. */
export function sees({ tenant }: Pick<Visitor, 'tenant'>, other: string): boolean {
  return tenant === undefined || tenant === other
}
