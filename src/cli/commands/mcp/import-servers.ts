import type { Json, JsonObject } from '../../../contract/base/json.ts'
import { SetupError } from '../../../contract/base/errors.ts'
import { isPlainObject } from '../../../kit/json/is-plain-object.ts'
import { parseWrittenJson } from '../../../kit/json/parse-written-json.ts'
import { findLiteralSecrets } from '../../../mcp/upstream/find-literal-secrets.ts'
import { readText } from '../../arguments/caller.ts'
import { readFile } from '../../arguments/read-file.ts'
import { exitCodes } from '../../base/exit-codes.ts'
import { showLine } from '../../base/show-safely.ts'
import { UsageError } from '../../base/usage-error.ts'
import { openFile, writeChange } from '../../../config/files/settings-file.ts'
import { isWanted, refused, say } from '../../files/change-file.ts'
import { insertAt } from '../../../config/files/edit-json.ts'
import { countOf } from '../../render/count-of.ts'
import { findPlaces, makeHome } from '../../setup/wire.ts'
import type { ToolsVerb } from '../tools/verb.ts'
import { checkEntry, readServers, secretsOf } from './change-servers.ts'
import { otherClients, type OtherClient } from './other-clients.ts'

/** `handrail mcp import` */
export const importServers: ToolsVerb = {
  async run(given, name = '') {
    const client = Object.hasOwn(otherClients, name) ? otherClients[name] : undefined
    if (client === undefined)
      throw new UsageError(
        `"${showLine(name.slice(0, 100))}" is no program whose servers are known here. Name one of: ${Object.keys(otherClients).join(', ')}.`,
      )
    const path = readText(given, 'file') ?? client.path()
    const theirs = await readTheirs(client, path)
    const { home, mcp } = findPlaces(given)
    const file = openFile(mcp)
    const present = readServers(file)
    const keepsSecrets = given.options['keep-secrets'] === true
    let after = file.text?.trim() ? file.text : '{}\n'
    const taken: string[] = []
    let isWhole = true
    for (const [server, theirEntry] of Object.entries(theirs)) {
      if (Object.hasOwn(present, server)) {
        say(`"${server}" is in "${mcp}" already, and stays as it is there`)
        continue
      }
      const read = toEntry(server, theirEntry, { client, keepsSecrets })
      for (const note of read.notes) say(note)
      if (read.entry === undefined) {
        isWhole = false
        continue
      }
      after = insertAt(after, ['mcpServers', server], read.entry)
      taken.push(server)
    }
    const code = isWhole ? exitCodes.ok : exitCodes.toolError
    if (taken.length === 0) {
      say(`There is no server to take over from "${path}". Nothing was changed.`)
      return code
    }
    if (!(await isWanted(file, { after, secrets: secretsOf(file.text, after) }, given))) return refused()
    makeHome(home)
    writeChange(file, after)
    say(
      `${countOf(taken.length, 'server')} of ${client.title} taken over. To see whether they answer: handrail mcp status`,
    )
    return code
  },
}

async function readTheirs({ form, field, title }: OtherClient, path: string): Promise<JsonObject> {
  const text = readFile(path)
  const value = form === 'toml' ? await parseToml(text, path) : parseJson(text, path)
  const servers = isPlainObject(value) ? value[field] : undefined
  if (isPlainObject(servers)) return servers as JsonObject
  throw new UsageError(`"${showLine(path)}" has no servers of ${title}: there is no "${field}".`)
}

function parseJson(text: string, path: string): unknown {
  const read = parseWrittenJson(text)
  if ('value' in read) return read.value
  throw new SetupError('invalid_configuration', `"${path}" cannot be read. Nothing was changed.`, read.issues)
}

async function parseToml(text: string, path: string): Promise<unknown> {
  const { parse } = await import('smol-toml')
  try {
    return parse(text)
  } catch (error) {
    const [why = ''] = error instanceof Error ? error.message.split('\n') : []
    throw new UsageError(`"${showLine(path)}" cannot be read: ${showLine(why)}. Nothing was changed.`)
  }
}

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
  readonly client: OtherClient
  readonly keepsSecrets: boolean
}

/** Their server as ours, and what the person has to know; without an entry if it cannot be taken over, and why. */
function toEntry(
  server: string,
  theirs: Json,
  { client: { toOurs = (each) => each }, keepsSecrets }: Choice,
): { entry?: JsonObject; notes: readonly string[] } {
  const leftOut = (why: string) => ({ notes: [`"${server}" is left out: ${why}`] })
  if (!isPlainObject(theirs)) return leftOut('it is not an object.')
  const all = Object.entries(toOurs(theirs as JsonObject))
  const notes = all
    .filter(([field]) => !ours.includes(field))
    .map(([field]) => `"${field}" of "${server}" means nothing here, and is left out.`)
  const plain = Object.fromEntries(all.filter(([field]) => ours.includes(field)))
  const entry = { ...plain, ...namesOf(plain, 'env'), ...namesOf(plain, 'headers') }
  const foreign = findForeign(entry)
  if (foreign !== undefined)
    return leftOut(`it has "${foreign}", which nothing fills in here. Add it with "handrail mcp add".`)
  const { safe, hidden } = keepsSecrets ? { safe: entry, hidden: [] } : hideSecrets(entry)
  const issues: string[] = []
  const { servers, faulty } = checkEntry(server, safe)
  for (const each of faulty)
    issues.push(...each.issues.map(({ pointer, message }) => `${pointer}: ${message}`))
  if (issues.length > 0) return leftOut(issues.join(' '))
  if (!keepsSecrets && servers.some((each) => findLiteralSecrets(each).length > 0))
    return leftOut(
      'a secret stands in it as it is, in its arguments or headers. Add it with "handrail mcp add", or say --keep-secrets.',
    )
  const told = hidden.map(
    (name) =>
      `the secret ${name} of "${server}" is not taken over: it is the environment variable of that name, which must be set for Handrail.`,
  )
  const kept =
    keepsSecrets && servers.some((each) => findLiteralSecrets(each).length > 0)
      ? [`"${server}" is taken over with a secret as it stands.`]
      : []
  return { entry: safe, notes: [...notes, ...told, ...kept] }
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

/** Variables that hold a secret get the one of the same name. */
function hideSecrets(entry: JsonObject): { safe: JsonObject; hidden: readonly string[] } {
  const { env } = entry
  if (!isPlainObject(env)) return { safe: entry, hidden: [] }
  const hidden = Object.entries(env).flatMap(([name, value]) => {
    const { servers } = checkEntry('it', { command: 'it', env: { [name]: value as Json } })
    return servers.some((each) => findLiteralSecrets(each).length > 0) ? [name] : []
  })
  const safe = Object.entries(env).map(([name, value]): [string, Json] => [
    name,
    hidden.includes(name) ? `\${${name}}` : (value as Json),
  ])
  return { safe: { ...entry, env: Object.fromEntries(safe) }, hidden }
}
