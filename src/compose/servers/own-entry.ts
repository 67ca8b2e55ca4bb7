import type { Json, JsonObject } from '../../contract/base/json.ts'
import { isPlainObject } from '../../kit/json/is-plain-object.ts'
import { findLiteralSecrets, findWrittenSecrets } from '../../mcp/upstream/find-literal-secrets.ts'
import { findMeant } from '../../config/servers/check-server.ts'
import { checkEntry } from './mcp-file.ts'
import type { OtherClient } from './other-clients.ts'

/** What a server says here; others are left out and said. */
const ours = [
  'type',
  'command',
  'args',
  'env',
  'cwd',
  'url',
  'headers',
  'tools',
  'timeout_ms',
  'enabled',
  'disabled',
]

interface Choice {
  readonly toOurs?: OtherClient['toOurs']
  readonly keepsSecrets: boolean
}

/** An entry of another program as one of ours. */
export interface OwnEntry {
  /** Without a secret, unless those are kept. Absent if it cannot be taken over, as the notes say. */
  readonly entry?: JsonObject
  /** The secrets that stood in its variables, by the names that the entry has in their place. */
  readonly secrets: Readonly<Record<string, string>>
  /** What the person has to know. */
  readonly notes: readonly string[]
}

/** Their server as ours, and what the person has to know; without an entry if it cannot be taken over, and why. */
export function toOwnEntry(
  server: string,
  theirs: Json,
  { toOurs = (each) => each, keepsSecrets }: Choice,
): OwnEntry {
  const leftOut = (why: string, notes: readonly string[] = []): OwnEntry => ({
    secrets: {},
    notes: [...notes, `"${server}" is left out: ${why}`],
  })
  if (!isPlainObject(theirs)) return leftOut('it is not an object.')
  const all = Object.entries(toOurs(theirs as JsonObject))
  const notes = all
    .filter(([field]) => !ours.includes(field))
    .map(([field]) => {
      const meant = findMeant(field)
      const hint = meant === undefined ? '' : ` Did you mean "${meant}"?`
      return `"${field}" of "${server}" means nothing here, and is left out.${hint}`
    })
  const plain = Object.fromEntries(all.filter(([field]) => ours.includes(field)))
  const entry = { ...plain, ...namesOf(plain, 'env'), ...namesOf(plain, 'headers') }
  const foreign = findForeign(entry)
  if (foreign !== undefined)
    return leftOut(
      /^\$\{[A-Za-z_]\w*\}$/.test(foreign)
        ? `it has "${foreign}" where nothing fills it in. Only values of "env" and "headers" may hold a variable.`
        : `it has "${foreign}", which nothing fills in here. Write what it stands for in its place.`,
    )
  const { safe, secrets } = keepsSecrets ? { safe: entry, secrets: {} } : hideSecrets(entry)
  const issues: string[] = []
  const { faulty } = checkEntry(server, safe)
  for (const each of faulty)
    issues.push(...each.issues.map(({ pointer, message }) => `${pointer}: ${message}`))
  if (issues.length > 0) return leftOut(issues.join(' '), notes)
  const hasSecrets = findWrittenSecrets(safe).length > 0
  if (!keepsSecrets && hasSecrets)
    return leftOut(
      'a secret stands in it as it is, in its arguments or headers. Add it with "handrail mcp add", or say --keep-secrets.',
    )
  const told = Object.keys(secrets).map(
    (name) =>
      `the secret ${name} of "${server}" is not taken over: it is the environment variable of that name, which must be set for Handrail.`,
  )
  const kept = keepsSecrets && hasSecrets ? [`"${server}" is taken over with a secret as it stands.`] : []
  return { entry: safe, secrets, notes: [...notes, ...told, ...kept] }
}

/** Other programs write `${env:NAME}` or `$NAME` for an environment variable. */
function namesOf(entry: JsonObject, field: 'env' | 'headers'): JsonObject {
  const values = entry[field]
  if (!isPlainObject(values)) return {}
  const named = Object.entries(values).map(([name, value]): [string, Json] => [
    name,
    typeof value === 'string'
      ? value.replaceAll(/\$\{env:(\w+)\}/g, '${$1}').replace(/^\$([A-Za-z_]\w*)$/, '${$1}')
      : (value as Json),
  ])
  return { [field]: Object.fromEntries(named) }
}

/** What only their program fills in: inputs, folders, defaults; and names anywhere but in variables and headers. */
function findForeign({ env, headers, ...rest }: JsonObject): string | undefined {
  const inside = JSON.stringify([env ?? {}, headers ?? {}]).replaceAll(/\$\{[A-Za-z_]\w*\}/g, '')
  return /\$\{[^}]*\}/.exec(`${JSON.stringify(rest)} ${inside}`)?.[0]
}

/** Variables and headers that hold a secret get the one of the same name. */
function hideSecrets(entry: JsonObject): { safe: JsonObject; secrets: Record<string, string> } {
  const secrets: Record<string, string> = {}
  const hidden = (['env', 'headers'] as const).flatMap((field) => {
    const values = entry[field]
    if (!isPlainObject(values)) return []
    const kind: JsonObject = field === 'env' ? { command: 'it' } : { url: 'https://it.example/mcp' }
    const safe = Object.entries(values).map(([name, value]): [string, Json] => {
      const { servers } = checkEntry('it', { ...kind, [field]: { [name]: value as Json } })
      const isSecret = servers.some((each) => findLiteralSecrets(each).length > 0)
      if (!isSecret || typeof value !== 'string') return [name, value as Json]
      const [, scheme = '', secret = ''] = (field === 'headers' &&
        /^(Bearer |Basic |Token )?(.*)$/is.exec(value)) || [value, '', value]
      const variable = name.replaceAll(/\W/g, '_').toUpperCase()
      secrets[field === 'env' ? name : variable] = secret
      return [name, `${scheme}\${${field === 'env' ? name : variable}}`]
    })
    return [[field, Object.fromEntries(safe)] as const]
  })
  return { safe: { ...entry, ...Object.fromEntries(hidden) }, secrets }
}
