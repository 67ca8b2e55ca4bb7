import type { StoredOAuthClientInformation } from '@modelcontextprotocol/client'
import type { JsonObject } from '../../../contract/base/json.ts'
import type { LoginSettings, StoredLogin } from '../../../contract/mcp/login.ts'

/** One that was registered to be led back to somewhere else has to be registered anew before a person is asked. */
export function toClient(
  stored: JsonObject | undefined,
  redirectUrl: string | undefined,
): StoredOAuthClientInformation | undefined {
  if (stored === undefined || !isClient(stored)) return undefined
  const places = stored['redirect_uris']
  if (redirectUrl !== undefined && Array.isArray(places) && !places.includes(redirectUrl)) return undefined
  return stored
}

/** Whether this is a client. Only a try writes one, and the SDK has checked the optional fields of what it writes. */
function isClient(stored: JsonObject): stored is JsonObject & StoredOAuthClientInformation {
  return typeof stored['client_id'] === 'string'
}

/** Without the client that an authorization server knows no more. */
export function withoutClient(stored: StoredLogin, issuer: string): StoredLogin {
  return { ...stored, clients: without(stored.clients, issuer) }
}

/** The same values without this one. */
export function without<T>(values: Readonly<Record<string, T>>, name: string): Record<string, T> {
  return Object.fromEntries(Object.entries(values).filter(([each]) => each !== name))
}

/** Some write a slash at the end of what they are called, and some do not. */
export function isSameIssuer(one: string, other: string): boolean {
  return one.replace(/\/$/, '') === other.replace(/\/$/, '')
}

/** The operator's word goes: credentials go to no other authorization server. */
export function requireIssuer(issuer: string, settings: LoginSettings): void {
  const wanted = settings.issuer
  if (wanted === undefined || isSameIssuer(wanted, issuer)) return
  throw new Error(
    `The server is led by "${issuer}", and "issuer" in mcp.json names "${wanted}". Nothing was sent there.`,
  )
}

/** The value of this name; undefined if there is none. */
export function ownValue<T>(values: Readonly<Record<string, T>> | undefined, name: string): T | undefined {
  return values !== undefined && Object.hasOwn(values, name) ? values[name] : undefined
}
