import type { Json, JsonObject } from '../../contract/base/json.ts'
import { SetupError } from '../../contract/base/errors.ts'
import { isPlainObject } from '../../kit/json/is-plain-object.ts'
import { dropInvisible } from '../../kit/text/drop-invisible.ts'
import { messageOf } from '../../kit/text/message-of.ts'
import { shorten } from '../../kit/text/shorten.ts'
import { createDoor } from '../../sandboxes/network/create-door.ts'

/** A server that a registry knows, with an entry for `mcp.json` that would start or reach it. */
export interface RegistryServer {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly version: string
  /** Absent if it comes in no form that can be used here. */
  readonly entry?: JsonObject
  /** What the person has to know of the entry. */
  readonly notes: readonly string[]
}

const searchMs = 10_000
const mostBytes = 4 * 1024 * 1024
const mostServers = 30

/** Asks a registry with the API of the official one. Throws a SetupError if it does not answer, or with something else. */
export async function searchRegistry(base: string, words: string): Promise<readonly RegistryServer[]> {
  const url = new URL(`${base.replace(/\/+$/, '')}/v0/servers`)
  url.searchParams.set('search', words)
  url.searchParams.set('limit', String(mostServers))
  url.searchParams.set('version', 'latest')
  const door = createDoor(url.href, {})
  try {
    const response = await door.request(url, {
      headers: { accept: 'application/json' },
      signal: AbortSignal.timeout(searchMs),
    })
    if (!response.ok) throw new Error(`It answered with ${response.status}.`)
    const answer: unknown = JSON.parse(await readBounded(response))
    const listed = isPlainObject(answer) ? answer['servers'] : undefined
    if (!Array.isArray(listed)) throw new Error('It answered with something that is no list of servers.')
    return listed.slice(0, mostServers).flatMap(toServer)
  } catch (error) {
    throw new SetupError(
      'registry_unreachable',
      `The registry of servers at ${url.origin} could not be asked. ${messageOf(error)} "mcpRegistry" in config.json says which one is asked.`,
    )
  } finally {
    await door.close()
  }
}

async function readBounded(response: Response): Promise<string> {
  const pieces: Uint8Array[] = []
  let size = 0
  for await (const piece of response.body ?? []) {
    size += piece.byteLength
    if (size > mostBytes) throw new Error('Its answer is too long.')
    pieces.push(piece)
  }
  return Buffer.concat(pieces).toString('utf8')
}

type Said = Readonly<Record<string, unknown>>

/** Newer answers have the server in a member of its own, beside what the registry says of it. */
function toServer(listed: unknown): RegistryServer[] {
  const outer = asObject(listed)
  const server = isPlainObject(outer['server']) ? outer['server'] : outer
  const name = textOf(server, 'name')
  if (name === '') return []
  const found = fromPackages(listOf(server, 'packages')) ?? fromRemotes(listOf(server, 'remotes'))
  return [
    {
      name,
      title: textOf(server, 'title'),
      description: textOf(server, 'description'),
      version: textOf(server, 'version'),
      notes: ['It comes in no form that can be started here.'],
      ...found,
    },
  ]
}

type Found = Required<Pick<RegistryServer, 'entry' | 'notes'>>

const runners: { readonly [kind: string]: readonly [command: string, ...args: string[]] } = {
  npm: ['npx', '-y'],
  pypi: ['uvx'],
}

function fromPackages(packages: readonly Said[]): Found | undefined {
  for (const each of packages) {
    const kind =
      textOf(each, 'registryType') || textOf(each, 'registry_type') || textOf(each, 'registry_name')
    const [command, ...before] = runners[kind] ?? []
    const identifier = textOf(each, 'identifier') || textOf(each, 'name')
    if (command === undefined || identifier === '') continue
    const version = textOf(each, 'version')
    const at = kind === 'pypi' ? '==' : '@'
    const spec = version === '' || version === 'latest' ? identifier : `${identifier}${at}${version}`
    const given = [...listOf(each, 'packageArguments'), ...listOf(each, 'package_arguments')]
    const variables = [...listOf(each, 'environmentVariables'), ...listOf(each, 'environment_variables')]
    const env = namesOf(
      variables.filter((variable) => variable['isRequired'] === true || variable['is_required'] === true),
    )
    const args = given.flatMap(toArgument)
    const entry = { command, args: [...before, spec, ...args], ...(Object.keys(env).length > 0 && { env }) }
    return { entry, notes: notesOf(variables, args) }
  }
  return undefined
}

function fromRemotes(remotes: readonly Said[]): Found | undefined {
  const remote = remotes.find((each) =>
    /^streamable[-_]?http$/i.test(textOf(each, 'type') || textOf(each, 'transport_type')),
  )
  const url = remote === undefined ? '' : textOf(remote, 'url')
  if (remote === undefined || url === '') return undefined
  const required = listOf(remote, 'headers').filter((each) => each['isRequired'] === true)
  const headers = Object.fromEntries(
    required.map((each) => [
      textOf(each, 'name'),
      `\${${textOf(each, 'name').replaceAll(/\W/g, '_').toUpperCase()}}`,
    ]),
  )
  return { entry: { url, ...(required.length > 0 && { headers }) }, notes: [] }
}

/** What a person fills in stands as it is called, in angle brackets. */
function toArgument(argument: Said): string[] {
  const value = textOf(argument, 'value') || textOf(argument, 'default')
  const isWanted = argument['isRequired'] === true || argument['is_required'] === true || value !== ''
  if (!isWanted) return []
  const hint =
    value ||
    `<${textOf(argument, 'valueHint') || textOf(argument, 'value_hint') || textOf(argument, 'name') || 'value'}>`
  return textOf(argument, 'type') === 'named' ? [textOf(argument, 'name'), hint] : [hint]
}

function namesOf(variables: readonly Said[]): Record<string, Json> {
  return Object.fromEntries(
    variables
      .map((each) => textOf(each, 'name'))
      .filter((name) => /^[A-Za-z_]\w*$/.test(name))
      .map((name) => [name, `\${${name}}`]),
  )
}

function notesOf(variables: readonly Said[], args: readonly string[]): string[] {
  const told = variables.map((each) => {
    const about = textOf(each, 'description')
    return `${textOf(each, 'name')}${about === '' ? '' : `: ${about}`}`
  })
  const open = args.filter((each) => /^<.*>$/.test(each))
  return [...told, ...(open.length === 0 ? [] : [`Fill in ${open.join(', ')}.`])]
}

function listOf(value: Said, field: string): readonly Said[] {
  const list = value[field]
  return Array.isArray(list) ? list.slice(0, 50).map(asObject) : []
}

function asObject(value: unknown): Said {
  return isPlainObject(value) ? value : {}
}

/** What others wrote, to be shown. */
function textOf(value: Said, field: string): string {
  const text = value[field]
  return typeof text === 'string' ? shorten(dropInvisible(text), 500) : ''
}
