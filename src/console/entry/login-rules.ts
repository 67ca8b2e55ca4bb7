import type { ConsoleLogin, ConsoleRole, ConsoleRule } from '../../contract/mcp/console-login.ts'
import { isPlainObject } from '../../kit/json/is-plain-object.ts'
import { valueAt } from '../../kit/json/json-pointer.ts'
import { higher, type Roles } from '../base/roles.ts'

/** What the rules look at of a person, by the names that the rules use: the texts of each claim. */
export type Claims = { readonly [claim: string]: string[] }

/** Who logged in where, as the store keeps it with their visit. */
export interface Person {
  readonly issuer: string
  /** The id of the client that the token was made for. */
  readonly client: string
  readonly claims: Claims
}

/** What a provider says of a person. */
export interface RawClaims {
  readonly [claim: string]: unknown
}

/** The texts of the claims that these rules name. */
export function pickClaims(claims: RawClaims, rules: readonly ConsoleRule[]): Claims {
  const names = new Set(rules.map(({ claim }) => claim))
  return Object.fromEntries([...names].map((name) => [name, textsOf(findClaim(claims, name))]))
}

/** What a claim is; undefined if the person has none, or the provider does not vouch for it. */
export function findClaim(claims: RawClaims, name: string): unknown {
  // Anybody can claim an address; only a verified one is theirs.
  if ((name === 'email' || name === '/email') && claims['email_verified'] !== true) return undefined
  if (name.startsWith('/')) return valueAt(claims, name)
  return Object.hasOwn(claims, name) ? claims[name] : undefined
}

/** What the ID token says of a person, with what else the provider says. An address is verified where it stands, and not by what is said of another one. */
export function mergeClaims(own: RawClaims, more: RawClaims): RawClaims {
  const { email, email_verified: isVerified, ...rest } = more
  const has = { email: own['email'] !== undefined, vouch: own['email_verified'] !== undefined }
  if (has.email && (has.vouch || own['email'] !== email)) return { ...rest, ...own }
  return { ...rest, ...own, email, email_verified: isVerified }
}

/** What a person may do by the rules of now; none if they are of another issuer or client. */
export function toRoles(
  person: Person,
  login: Pick<ConsoleLogin, 'issuer' | 'clientId' | 'rules'> | undefined,
): Roles {
  const roles = new Map<string, ConsoleRole>()
  if (login === undefined || person.issuer !== login.issuer || person.client !== login.clientId) return roles
  for (const { claim, value, role, tenants } of login.rules) {
    if (!Object.hasOwn(person.claims, claim) || person.claims[claim]?.includes(value) !== true) continue
    for (const tenant of tenants) roles.set(tenant, higher(roles.get(tenant), role) ?? role)
  }
  return roles
}

export function isPerson(value: unknown): value is Person {
  return (
    isPlainObject(value) &&
    typeof value['issuer'] === 'string' &&
    typeof value['client'] === 'string' &&
    isPlainObject(value['claims']) &&
    Object.values(value['claims']).every(
      (texts) => Array.isArray(texts) && texts.every((text) => typeof text === 'string'),
    )
  )
}

function textsOf(claim: unknown): string[] {
  const all: unknown[] = Array.isArray(claim) ? claim : [claim]
  return all.filter((each) => typeof each === 'string')
}
