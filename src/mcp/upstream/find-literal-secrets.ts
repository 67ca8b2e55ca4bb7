import type { UpstreamServer } from '../../contract/mcp/upstream.ts'
import { isPlainObject } from '../../kit/json/is-plain-object.ts'
import { createRedactor } from '../../kit/secrets/redact.ts'
import { secretNames } from '../../kit/secrets/secret-names.ts'
import { longOption, secretName, secretOption, secretPair } from './base/secret-words.ts'

/** Shorter ones would hit ordinary text. */
const shortest = 8

/**
 * The secrets that stand in the entry of a server as they are, in the place of `${NAME}`: values of variables, headers and options whose name
 * says so, and values that look like a token or hold a password.
 */
export function findLiteralSecrets({ transport, credentials }: UpstreamServer): string[] {
  const values = transport.kind === 'http' ? transport.headers : transport.env
  const named = [values, ...Object.values(credentials)].flatMap((each) => Object.entries(each))
  const found = [
    ...named.flatMap(([name, value]) => secretsIn(value, isSecretName(name))),
    ...(transport.kind === 'http' ? [] : findArguments(transport.args)),
  ]
  return [...new Set(found)].filter(({ length }) => length >= shortest)
}

/**
 * The same for an entry as it is written, whatever its form: of one that is turned off, or has a fault, nothing but its text is known, and that is shown too.
 */
export function findWrittenSecrets(entry: unknown): string[] {
  const found = walk(entry, '')
  return [...new Set(found)].filter(({ length }) => length >= shortest)
}

function walk(value: unknown, name: string): string[] {
  if (typeof value === 'string') return secretsIn(value, isSecretName(name))
  if (isPlainObject(value)) return Object.entries(value).flatMap(([field, each]) => walk(each, field))
  if (!Array.isArray(value)) return []
  const isCommand = /^(?:arg|command)/i.test(name)
  return [
    ...(isCommand ? findArguments(value.map((each) => (typeof each === 'string' ? each : ''))) : []),
    ...value.flatMap((each) => walk(each, name)),
  ]
}

/** What such a name says of its secret, and is none itself. */
const aboutSecret =
  /(?:^|[_-])(?:file|path|dir|url|uri|host|port|type|mode|id|name|user|username|email|enabled|ttl)$/i

function isSecretName(name: string): boolean {
  return secretName.test(name) && !aboutSecret.test(name)
}

const tokens = createRedactor([])

function secretsIn(value: string, isNamed: boolean): string[] {
  // The secrets of the runtime are hidden anyway.
  if (secretNames(value).length > 0) return []
  const password = passwordOf(value)
  if (password.length > 0) return [value, ...password]
  const isSecret = isNamed ? !isHarmless(value) : tokens.text(value) !== value
  return isSecret ? [value, value.split(/\s+/).at(-1) ?? ''] : []
}

/** Of an address: as it stands there, and as a program reads it. */
function passwordOf(value: string): string[] {
  const { password } = URL.canParse(value) ? new URL(value) : { password: '' }
  if (password === '') return []
  try {
    return [password, decodeURIComponent(password)]
  } catch {
    return [password]
  }
}

/** A path, a number, or an address without a password. */
function isHarmless(value: string): boolean {
  return /^(?:\/|~\/|\.{1,2}\/|[a-z][a-z0-9+.-]*:\/\/|[\d.]+$)/i.test(value)
}

function findArguments(args: readonly string[]): string[] {
  return args.flatMap((each, index) => {
    const isValue = secretOption.test(args[index - 1] ?? '') && !longOption.test(each)
    if (isValue) return secretsIn(each, true)
    const pair = secretPair.exec(each)
    return pair === null ? secretsIn(each, false) : secretsIn(pair[0].slice(pair[1]?.length), true)
  })
}
