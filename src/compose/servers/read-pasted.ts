import { basename } from 'node:path'
import { SetupError } from '../../contract/base/errors.ts'
import type { Issue, Json, JsonObject } from '../../contract/base/json.ts'
import { isPlainObject } from '../../kit/json/is-plain-object.ts'
import { parseWrittenJson } from '../../kit/json/parse-written-json.ts'
import { readCommandLine } from '../../kit/shell/read-command-line.ts'
import { readPackageCommand } from '../../mcp/packages/read-package-command.ts'
import { otherClients } from './other-clients.ts'
import { toOwnEntry, type OwnEntry } from './own-entry.ts'

/** A server as it was pasted. */
export interface PastedServer extends OwnEntry {
  readonly name: string
}

/** Fields under which programs keep their servers. */
const holders = ['mcpServers', 'servers', 'mcp_servers', 'context_servers', 'mcp'] as const

/**
 * The servers in a text that a person pasted: the JSON or TOML of any client, whole or a part of it, a command line, or a URL. Secrets are taken out of
 * the entries. Throws a SetupError if it is none of these.
 */
export async function readPasted(text: string, name?: string): Promise<readonly PastedServer[]> {
  const trimmed = text.trim()
  if (trimmed === '') throw notRead('Nothing was pasted.')
  const found = /^[{"[]/.test(trimmed) ? await readStructured(trimmed) : readCommand(trimmed)
  const entries = Object.entries(found)
  if (entries.length === 0) throw notRead('There is no server in it.')
  return entries.map(([own, entry]) => {
    const called = entries.length === 1 && name !== undefined && name !== '' ? name : own
    return { name: called, ...toOwnEntry(called, entry, { toOurs: fromAnyClient, keepsSecrets: false }) }
  })
}

/** JSON, with or without the braces around it, or TOML. */
async function readStructured(text: string): Promise<JsonObject> {
  if (/^\[[^\]{"]+\]\s*$/m.test(text)) {
    const { parse } = await import('smol-toml')
    return toServers(readBy(() => parse(text)))
  }
  const whole = text.startsWith('"') ? `{${text.replace(/,\s*$/, '')}}` : text
  const read = parseWrittenJson(whole, (fault) => `What was pasted is not valid JSON at ${fault}.`)
  if ('issues' in read) throw notRead(read.issues.map(toLine).join(' '))
  return toServers(read.value)
}

function toLine({ pointer, message }: Issue): string {
  return pointer === '' ? message : `${pointer}: ${message}`
}

function readBy(parse: () => unknown): unknown {
  try {
    return parse()
  } catch (error) {
    const [why = ''] = error instanceof Error ? error.message.split('\n') : []
    throw notRead(`It cannot be read as TOML: ${why}`)
  }
}

function toServers(value: unknown): JsonObject {
  if (!isPlainObject(value)) throw notRead('There is no server in it.')
  for (const holder of holders) {
    const inside = value[holder]
    if (isPlainObject(inside)) return holder === 'mcp' ? toServers(inside) : (inside as JsonObject)
  }
  if (isEntry(value)) return { [nameOf(value as JsonObject)]: value as JsonObject }
  const servers = Object.entries(value).filter(([, each]) => isEntry(each))
  return Object.fromEntries(servers) as JsonObject
}

function isEntry(value: unknown): boolean {
  return isPlainObject(value) && ['command', 'url', 'httpUrl', 'serverUrl'].some((field) => field in value)
}

/** A command line as one would type it, or a URL. */
function readCommand(text: string): JsonObject {
  if (/^https?:\/\/\S+$/i.test(text)) return { [nameOf({ url: text })]: { url: text } }
  const { commands, plain, hidden } = readCommandLine(text.replace(/^\$\s+/, ''))
  const [command] = commands
  const words = command?.words ?? []
  const isKnown = [...words, ...(command?.assigned ?? [])].every(
    ({ text: word, known, as }) => as === 'one' && known === word.length,
  )
  if (commands.length !== 1 || !plain || hidden || !isKnown || words.length === 0)
    throw notRead('Paste the JSON of a server, one command without variables and pipes, or a URL.')
  const [program = '', ...args] = words.map((word) => word.text)
  const env = Object.fromEntries(
    (command?.assigned ?? []).map(({ text: pair }) => {
      const end = pair.indexOf('=')
      return [pair.slice(0, end), pair.slice(end + 1)]
    }),
  )
  const entry = { command: program, args, ...(Object.keys(env).length > 0 && { env }) }
  return { [nameOf(entry)]: entry }
}

/** What a server without a name is called: by its package, its program or its host. */
function nameOf({ command, args, url }: JsonObject): string {
  if (typeof url === 'string')
    return URL.canParse(url) ? (new URL(url).hostname.split('.').at(-2) ?? 'server') : 'server'
  if (typeof command !== 'string') return 'server'
  const given = Array.isArray(args) ? args.filter((each) => typeof each === 'string') : []
  const [spec] = readPackageCommand(command, given)?.specs ?? []
  const script = given.find((each) => /\.(?:[cm]?[jt]s|py)$/.test(each))
  const word = spec?.replace(/(?<=.)@[^/]*$/, '') ?? script ?? command
  return (
    basename(word)
      .replace(/\.\w+$/, '')
      .replace(/^(?:mcp-)?server-/, '') || 'server'
  )
}

/** What the clients call their fields, whichever it is from. */
function fromAnyClient(server: JsonObject): JsonObject {
  const { serverUrl, ...rest } = server
  const named: JsonObject = serverUrl === undefined ? rest : { ...rest, url: serverUrl }
  return Object.values(otherClients).reduce((entry, { toOurs }) => toOurs?.(entry) ?? entry, named)
}

function notRead(message: string): SetupError {
  return new SetupError('invalid_configuration', message)
}

/** An entry with the secrets in the place of their names, as it is tried. */
export function withSecrets({ entry = {}, secrets }: OwnEntry): JsonObject {
  const fill = (value: Json): Json => {
    if (typeof value !== 'string') return value
    return value.replaceAll(/\$\{(\w+)\}/g, (name, each: string) => secrets[each] ?? name)
  }
  const fields = (['env', 'headers'] as const).flatMap((field) => {
    const values = entry[field]
    if (!isPlainObject(values)) return []
    return [
      [
        field,
        Object.fromEntries(Object.entries(values).map(([name, value]) => [name, fill(value as Json)])),
      ] as const,
    ]
  })
  return { ...entry, ...Object.fromEntries(fields) }
}
