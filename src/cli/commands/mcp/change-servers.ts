import { readServers, requireSound, secretsOf } from '../../../compose/servers/mcp-file.ts'
import type { JsonObject } from '../../../contract/base/json.ts'
import { secretNames } from '../../../kit/secrets/secret-names.ts'
import { nearestNames } from '../../../kit/text/nearest-names.ts'
import { findWrittenSecrets } from '../../../mcp/upstream/find-literal-secrets.ts'
import { readText } from '../../arguments/caller.ts'
import type { CommandLine } from '../../base/command.ts'
import { exitCodes } from '../../base/exit-codes.ts'
import { showLine } from '../../base/show-safely.ts'
import { UsageError } from '../../base/usage-error.ts'
import { openFile, writeChange } from '../../../config/files/settings-file.ts'
import { isWanted, refused, say } from '../../files/change-file.ts'
import { insertAt, removeAt } from '../../../config/files/edit-json.ts'
import { findPlaces, makeHome } from '../../setup/wire.ts'
import { readPasted, withSecrets, type PastedServer } from '../../../compose/servers/read-pasted.ts'
import { readFile } from '../../arguments/read-file.ts'
import { text as readAll } from 'node:stream/consumers'
import { findOwnVariables } from '../../../compose/servers/try-server.ts'
import { noteChanges, tryEntry } from './try-entries.ts'
import type { ToolsVerb } from '../tools/verb.ts'

/** `handrail mcp add` */
export const addVerb: ToolsVerb = {
  async run(given) {
    const [name = '', ...words] = given.positionals
    if (name === '') throw new UsageError('The name of the server is empty.')
    const pasted = await readGiven(given, name, words)
    const places = findPlaces(given)
    const { home, mcp } = places
    const file = openFile(mcp)
    const servers = readServers(file)
    if (Object.hasOwn(servers, name))
      throw new UsageError(
        `"${mcp}" has a server "${showLine(name)}" already. To take it out: handrail mcp remove ${showLine(name)}`,
      )
    requireSound(name, withSecrets(pasted))
    requireAllowed(given, pasted)
    const entry = given.options['try'] === true ? await tryEntry(pasted, places) : (pasted.entry ?? {})
    requireSound(name, entry)
    if (findWrittenSecrets(entry).length > 0) {
      const advice = `${showLine(name)}: a secret stands in this entry as it is. Put \${NAME} in its place, which is the environment variable of that name (--env NAME), so that the file has none`
      if (given.options['keep-secrets'] !== true)
        throw new UsageError(`${advice}; or add --keep-secrets. Nothing was changed.`)
      say(`${advice}.`)
    }
    const after = insertAt(file.text?.trim() ? file.text : '{}\n', ['mcpServers', name], entry)
    if (!(await isWanted(file, { after, secrets: secretsOf(file.text, after) }, given))) return refused()
    makeHome(home)
    writeChange(file, after, home)
    await noteChanges({ [name]: { entry } }, places)
    return say(`"${mcp}" has "${name}" now. To see whether it answers: handrail mcp status`)
  },
}

/** `handrail mcp remove` */
export const removeVerb: ToolsVerb = {
  async run(given, name = '') {
    const places = findPlaces(given)
    const { home, mcp } = places
    const file = openFile(mcp)
    const servers = readServers(file)
    if (file.text === undefined || !Object.hasOwn(servers, name)) {
      const [nearest] = nearestNames(name, Object.keys(servers), 1)
      const hint = nearest === undefined ? '' : ` Did you mean "${showLine(nearest)}"?`
      throw new UsageError(`"${mcp}" has no server "${showLine(name.slice(0, 100))}".${hint}`)
    }
    const after = removeAt(file.text, ['mcpServers', name])
    if (!(await isWanted(file, { after, secrets: secretsOf(file.text, after) }, given))) return refused()
    writeChange(file, after, home)
    await noteChanges({ [name]: { remove: true } }, places)
    say(`"${mcp}" has "${name}" no more.`)
    return exitCodes.ok
  },
}

/** What is to be added: as it was pasted into a file, or as the arguments say. */
async function readGiven(given: CommandLine, name: string, words: readonly string[]): Promise<PastedServer> {
  const path = readText(given, 'paste')
  if (path === undefined) return { name, entry: readEntry(given, words), secrets: {}, notes: [] }
  if (words.length > 0) throw new UsageError('--paste says it all: leave the command or the URL out.')
  const [first, ...others] = await readPasted(
    path === '-' ? await readAll(process.stdin) : readFile(path),
    name,
  )
  if (first?.entry === undefined || others.length > 0)
    throw new UsageError(first?.notes.join(' ') || 'Paste one server: there are several.')
  for (const note of first.notes) say(note)
  const variables = Object.entries(readVariables(readText(given, 'env') ?? ''))
  const missing = variables.filter(
    ([variable]) => !secretNames(JSON.stringify(first.entry)).includes(variable),
  )
  const env = { ...(first.entry['env'] as JsonObject | undefined), ...Object.fromEntries(missing) }
  const more = { ...(missing.length > 0 && { env }), ...readMore(given) }
  return { ...first, entry: { ...first.entry, ...more } }
}

/** What was pasted is not tried with variables of this environment that were not named. */
function requireAllowed(given: CommandLine, pasted: PastedServer): void {
  if (given.options['try'] !== true || given.options['paste'] === undefined) return
  const own = findOwnVariables(pasted, readText(given, 'env')?.split(',') ?? [])
  if (own.length === 0) return
  throw new UsageError(
    `"${showLine(pasted.name)}" was not tried: it would be given ${own.join(', ')} of your environment. If it is meant to have that: --env ${own.join(',')}. Nothing was changed.`,
  )
}

function readEntry(given: CommandLine, words: readonly string[]): JsonObject {
  const [first, ...rest] = words
  if (first === undefined)
    throw new UsageError(
      'Say what to start, after "--", or the URL: handrail mcp add docs -- npx -y some-server',
    )
  const isUrl = rest.length === 0 && /^https?:\/\//i.test(first)
  if (!isUrl && /^[a-z][a-z0-9+.-]*:\/\//i.test(first))
    throw new UsageError(
      `"${showLine(first.slice(0, 100))}" is not an http or https URL, and not a program. Nothing was changed.`,
    )
  const [env, header] = ['env', 'header'].map((option) => readText(given, option))
  const foreign = isUrl ? 'env' : 'header'
  if (given.options[foreign] !== undefined)
    throw new UsageError(`--${foreign} is for a server that ${isUrl ? 'is a program' : 'has a URL'}.`)
  const more = readMore(given)
  if (isUrl) return { url: first, ...(header !== undefined && { headers: readHeader(header) }), ...more }
  return { command: first, args: rest, ...(env !== undefined && { env: readVariables(env) }), ...more }
}

/** What a program may have beside its arguments. */
function readMore(given: CommandLine): JsonObject {
  const lists = (['read', 'write', 'network'] as const).flatMap((field) => {
    const text = readText(given, field)
    return text === undefined ? [] : [[field, text.split(',')] as const]
  })
  return Object.fromEntries(lists)
}

/** A name alone stands for the variable of the same name, whose value is not in the file. */
function readVariables(text: string): JsonObject {
  return Object.fromEntries(
    text
      .split(',')
      .filter(Boolean)
      .map((each) => {
        const end = each.indexOf('=')
        return end < 0 ? [each, `\${${each}}`] : [each.slice(0, end), each.slice(end + 1)]
      }),
  )
}

function readHeader(text: string): JsonObject {
  const [, name = '', value = ''] = /^([^:\s]+):\s*(.*)$/.exec(text) ?? []
  if (name === '')
    throw new UsageError('--header must be "Name: value", such as "Authorization: Bearer ${TOKEN}".')
  return { [name]: value }
}
