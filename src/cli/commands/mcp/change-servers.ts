import { readServers, requireSound, secretsOf } from '../../../compose/servers/mcp-file.ts'
import type { JsonObject } from '../../../contract/base/json.ts'
import { nearestNames } from '../../../kit/text/nearest-names.ts'
import { findLiteralSecrets } from '../../../mcp/upstream/find-literal-secrets.ts'
import { readText } from '../../arguments/caller.ts'
import type { CommandLine } from '../../base/command.ts'
import { exitCodes } from '../../base/exit-codes.ts'
import { showLine } from '../../base/show-safely.ts'
import { UsageError } from '../../base/usage-error.ts'
import { openFile, writeChange, type OpenFile } from '../../../config/files/settings-file.ts'
import { isWanted, refused, say } from '../../files/change-file.ts'
import { insertAt, removeAt } from '../../../config/files/edit-json.ts'
import { findPlaces, makeHome } from '../../setup/wire.ts'
import type { ToolsVerb } from '../tools/verb.ts'

/** `handrail mcp add` */
export const addVerb: ToolsVerb = {
  async run(given) {
    const [name = '', ...words] = given.positionals
    if (name === '') throw new UsageError('The name of the server is empty.')
    const entry = readEntry(given, words)
    const { home, mcp } = findPlaces(given)
    const file = openFile(mcp)
    const servers = readServers(file)
    if (Object.hasOwn(servers, name))
      throw new UsageError(
        `"${mcp}" has a server "${showLine(name)}" already. To take it out: handrail mcp remove ${showLine(name)}`,
      )
    const [server] = requireSound(name, entry).servers
    const literal = server === undefined ? [] : findLiteralSecrets(server)
    if (literal.length > 0) {
      const advice = `${showLine(name)}: a secret stands in this entry as it is. Put \${NAME} in its place, which is the environment variable of that name (--env NAME), so that the file has none`
      if (given.options['keep-secrets'] !== true)
        throw new UsageError(`${advice}; or add --keep-secrets. Nothing was changed.`)
      say(`${advice}.`)
    }
    const after = insertAt(file.text?.trim() ? file.text : '{}\n', ['mcpServers', name], entry)
    if (!(await isWanted(file, { after, secrets: secretsOf(file.text, after) }, given))) return refused()
    makeHome(home)
    writeChange(file, after)
    return say(`"${mcp}" has "${name}" now. To see whether it answers: handrail mcp status`)
  },
}

/** `handrail mcp remove` */
export const removeVerb: ToolsVerb = {
  async run(given, name = '') {
    const { mcp } = findPlaces(given)
    const file = openFile(mcp)
    const servers = readServers(file)
    if (file.text === undefined || !Object.hasOwn(servers, name)) {
      const [nearest] = nearestNames(name, Object.keys(servers), 1)
      const hint = nearest === undefined ? '' : ` Did you mean "${showLine(nearest)}"?`
      throw new UsageError(`"${mcp}" has no server "${showLine(name.slice(0, 100))}".${hint}`)
    }
    const after = removeAt(file.text, ['mcpServers', name])
    if (!(await isWanted(file, { after, secrets: secretsOf(file.text, after) }, given))) return refused()
    writeChange(file, after)
    say(`"${mcp}" has "${name}" no more.`)
    return exitCodes.ok
  },
}

function readEntry(given: CommandLine, words: readonly string[]): JsonObject {
  const [first, ...rest] = words
  if (first === undefined)
    throw new UsageError(
      'Say what to start, after "--", or the URL: handrail mcp add docs -- npx -y some-server',
    )
  const isUrl = rest.length === 0 && /^https?:\/\//i.test(first)
  const [env, header] = ['env', 'header'].map((option) => readText(given, option))
  const foreign = isUrl ? 'env' : 'header'
  if (given.options[foreign] !== undefined)
    throw new UsageError(`--${foreign} is for a server that ${isUrl ? 'is a program' : 'has a URL'}.`)
  const folders = (['read', 'write'] as const).flatMap((field) => {
    const text = readText(given, field)
    return text === undefined ? [] : [[field, text.split(',')] as const]
  })
  const more = Object.fromEntries(folders)
  if (isUrl) return { url: first, ...(header !== undefined && { headers: readHeader(header) }), ...more }
  return { command: first, args: rest, ...(env !== undefined && { env: readVariables(env) }), ...more }
}

/** A name alone stands for the variable of the same name, whose value is not in the file. */
function readVariables(text: string): JsonObject {
  return Object.fromEntries(
    text.split(',').map((each) => {
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
