import { consoleRoles, type ConsoleRole } from '../../contract/mcp/console-login.ts'
import { isPlainObject } from '../../kit/json/is-plain-object.ts'
import { isPerson, type Person } from './login-rules.ts'

/** Who is let in. What they may do is said at once, or follows from the rules for what they logged in as. */
export interface Guest {
  readonly actor: string
  readonly name: string
  readonly by: Map<string, ConsoleRole> | Person
}

/** A guest as the store has them: the secret of the link or visit is its id, as a digest. */
export type Kept = {
  actor: string
  name: string
  since: number
  expiresAt: number
  /** Of who logged in, null for one who came by a link; they follow from the rules, and `roles` is empty. */
  person: { issuer: string; client: string; claims: { [claim: string]: string[] } } | null
  roles: { [tenant: string]: ConsoleRole }
}

export function toKept({ actor, name, by }: Guest, ms: number): Kept {
  const since = Date.now()
  const about = { actor, name, since, expiresAt: since + ms }
  if (by instanceof Map) return { ...about, person: null, roles: Object.fromEntries(by) }
  const { issuer, client, claims } = by
  const texts = Object.entries(claims).map(([claim, all]): [string, string[]] => [claim, [...all]])
  return { ...about, person: { issuer, client, claims: Object.fromEntries(texts) }, roles: {} }
}

/** Whether a value of the store is a guest, whose time is not over. */
export function isCurrent(value: unknown): value is Kept {
  return (
    isPlainObject(value) &&
    typeof value['actor'] === 'string' &&
    typeof value['name'] === 'string' &&
    typeof value['since'] === 'number' &&
    typeof value['expiresAt'] === 'number' &&
    value['expiresAt'] > Date.now() &&
    (value['person'] === null || isPerson(value['person'])) &&
    isPlainObject(value['roles']) &&
    Object.values(value['roles']).every((role) => consoleRoles.some((each) => each === role))
  )
}
