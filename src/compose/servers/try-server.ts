import { statSync } from 'node:fs'
import { dirname, normalize } from 'node:path'
import type { Json, JsonObject } from '../../contract/base/json.ts'
import { isInside } from '../../kit/match/is-inside.ts'
import { isPlainObject } from '../../kit/json/is-plain-object.ts'
import { secretNames } from '../../kit/secrets/secret-names.ts'
import { expandHome } from '../options/resolve-places.ts'
import type { McpServerState, McpTools } from '../sources/mcp-tools.ts'
import { requireSound } from './mcp-file.ts'
import { withSecrets, type PastedServer } from './read-pasted.ts'

/** A server at work for a trial, alone. */
export interface TrialRuntime {
  readonly feed: Pick<McpTools, 'look'>
  close(): Promise<void>
}

/** Starts a server as it would be in service, with nothing kept of it. */
export type OpenTrial = (about: {
  readonly servers: JsonObject
  /** Of `${NAME}`, beside those of the environment. */
  readonly secrets: Readonly<Record<string, string>>
}) => Promise<TrialRuntime>

/** What came of trying a server. Nothing in it is a secret that was pasted. */
export interface Trial {
  readonly name: string
  /** The least entry with which it got so far: as it was given, and what of that its own words need. */
  readonly entry: JsonObject
  /** Whether it answered, and listed its tools. */
  readonly works: boolean
  readonly tools: readonly string[]
  /** Fields that were added, each with its value. */
  readonly added: JsonObject
  /** Hosts that its program asked for and was kept from. It may have one if the person says so. */
  readonly hosts: readonly string[]
  /** Folders that its program says it could not write to. It may write to one if the person says so. */
  readonly folders: readonly string[]
  /** Variables that it says it needs and does not have. */
  readonly variables: readonly string[]
  /** Variables of its entry that are not set here. */
  readonly unset: readonly string[]
  /** Variables of the environment of Handrail that a person would have to allow before it is started at all. */
  readonly own: readonly string[]
  /** Packages that were fetched, with their versions. */
  readonly packages: readonly string[]
  /** Where its program keeps its data. */
  readonly data?: string
  readonly wantsLogin: boolean
  readonly fault?: string
  readonly remedy?: string
  readonly log?: string
  readonly notes: readonly string[]
}

/** So often a server is started. */
const mostTries = 4
/** How long it may take; a package that is fetched has its own time. */
const lookMs = 30_000
/** Lets the names be seen that a program asks for. It never leads anywhere (RFC 6761). */
const nowhere = 'nowhere.invalid'

/**
 * Starts a server in its sandbox, and again with what its entry names and it was kept from, until it answers or nothing more is found. What only its
 * program asks for is never opened here: it is said, and a person decides. Throws a SetupError for an entry with a fault.
 */
export async function tryServer(
  given: PastedServer,
  open: OpenTrial,
  environment = process.env,
): Promise<Trial> {
  const { name, secrets, notes } = given
  let entry = given.entry ?? {}
  let added: JsonObject = {}
  for (let tries = 1; ; tries++) {
    const state = await tryOnce({ ...given, entry }, open)
    const more = toMore(state, entry)
    if (Object.keys(more).length === 0 || tries === mostTries)
      return toTrial(state, { name, entry, added, secrets, notes, environment })
    entry = { ...entry, ...more }
    added = { ...added, ...more }
  }
}

async function tryOnce(given: PastedServer, open: OpenTrial): Promise<McpServerState> {
  const { name, secrets } = given
  // One that is turned off would start nothing, and is tried to see what it does.
  const { enabled: _enabled, disabled: _disabled, ...filled } = withSecrets(given)
  requireSound(name, filled)
  const isClosed = filled['command'] !== undefined && isNone(filled['network'])
  const watched = isClosed ? { ...filled, network: [nowhere] } : filled
  const trial = await open({ servers: { [name]: watched }, secrets })
  try {
    const { servers } = await trial.feed.look({ timeoutMs: lookMs, patient: true })
    const [state] = servers
    if (state === undefined) throw new Error('A trial has one server.')
    return state
  } finally {
    await trial.close()
  }
}

function isNone(network: unknown): boolean {
  return network === undefined || network === false || (Array.isArray(network) && network.length === 0)
}

/** The fields that the words of the entry itself need, where they are not in it yet. */
function toMore({ wants }: McpServerState, entry: JsonObject): JsonObject {
  const network = wants.network === true ? true : wants.network?.filter((host) => host !== nowhere)
  const wanted: JsonObject = {
    ...(network !== undefined && network !== true && network.length > 0 && { network }),
    ...(network === true && { network }),
    ...(wants.read !== undefined && { read: [...wants.read] }),
  }
  return Object.fromEntries(
    Object.entries(wanted).filter(([field, value]) => JSON.stringify(entry[field]) !== JSON.stringify(value)),
  )
}

interface About extends Pick<Trial, 'name' | 'entry' | 'added' | 'notes'> {
  readonly secrets: Readonly<Record<string, string>>
  readonly environment: Readonly<Record<string, string | undefined>>
}

function toTrial(state: McpServerState, about: About): Trial {
  const { name, entry, added, notes, environment } = about
  const { fault, remedy, log, tools, wantsLogin, refused, data } = state
  const works = state.state === 'open'
  const unset = secretNames(JSON.stringify(entry)).filter((each) => environment[each] === undefined)
  const isHidden = (text: string): boolean =>
    Object.values(about.secrets).some((secret) => text.includes(secret))
  const shown = log === '' || isHidden(log) ? undefined : log
  const late = works || fault !== undefined ? fault : 'It did not answer in time.'
  return {
    name,
    entry,
    works,
    tools,
    added,
    hosts: [...new Set(refused.map(toPattern))].filter((host) => host !== nowhere && isName(host)),
    folders: missedFolders(log, entry),
    variables: works ? [] : missedVariables(log, entry),
    unset,
    own: [],
    packages: (state.package?.pin?.versions ?? []).map((each) => `${each.name} ${each.version}`),
    wantsLogin,
    notes,
    ...(data !== undefined && { data }),
    ...(late !== undefined && { fault: late }),
    ...(remedy !== undefined && { remedy }),
    ...(shown !== undefined && { log: shown }),
  }
}

/** As `network` of an entry has it. */
function toPattern(host: string): string {
  return host.replace(/:(?:80|443)$/, '')
}

/** An address without a name is never proposed: the operator names it with its port. */
function isName(host: string): boolean {
  return /^[a-z0-9-]+(?:\.[a-z0-9-]+)+(?::\d+)?$/i.test(host) && !/^[\d.]+(?::\d+)?$/.test(host)
}

const readOnly = /\bEROFS\b|Read-only file system/i

/**
 * The folders in which a program says it could not write, of those that its entry lets it read: it sees no others, so that its words alone propose none.
 */
function missedFolders(log: string, { read }: JsonObject): string[] {
  const seen = (Array.isArray(read) ? read : []).flatMap((folder) =>
    typeof folder === 'string' ? expandHome(folder) : [],
  )
  const lines = log.split('\n').filter((line) => readOnly.test(line))
  const paths = lines.flatMap((line) => line.match(/(?<![\w./~])\/[^\s'"`:,;)\]]+/g) ?? [])
  const folders = paths.flatMap((path) => nearestFolder(path) ?? [])
  return [...new Set(folders)].filter((folder) => seen.some((each) => isInside(folder, each))).slice(0, 20)
}

/** The folder at a path, or the nearest one above it; undefined if that is the root of the machine. */
function nearestFolder(path: string): string | undefined {
  for (let folder = normalize(path); folder !== dirname(folder); folder = dirname(folder))
    if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true) return folder
  return undefined
}

const complaint = /required|missing|must|need|not set|undefined|environment|provide/i

/** Variables that a program that did not start complains of. It is given none: a person decides which. */
function missedVariables(log: string, { env }: JsonObject): string[] {
  const known = isPlainObject(env) ? Object.keys(env) : []
  const lines = log.split('\n').filter((line) => complaint.test(line))
  const named = lines.flatMap((line) => line.match(/\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b/g) ?? [])
  const isOurs = (each: string): boolean => /^(?:ERR|E[A-Z]+)_|^NODE_|^HTTPS?_PROXY$/.test(each)
  return [...new Set(named)].filter((each) => !known.includes(each) && !isOurs(each)).slice(0, 20)
}

/**
 * The variables of the environment of Handrail that what was pasted would be given in a trial, but those that a person allowed. Its text could so
 * have any secret of this machine sent anywhere.
 */
export function findOwnVariables(
  { entry = {}, secrets }: PastedServer,
  allowed: readonly string[],
  environment: Readonly<Record<string, string | undefined>> = process.env,
): string[] {
  return secretNames(JSON.stringify(entry)).filter(
    (each) => Object.hasOwn(environment, each) && !Object.hasOwn(secrets, each) && !allowed.includes(each),
  )
}

/** What a person lets a server have, beside what its entry says. */
export interface Allowed {
  readonly hosts?: readonly string[]
  readonly folders?: readonly string[]
  readonly variables?: readonly string[]
}

/** An entry with that. */
export function allow(
  given: PastedServer,
  { hosts = [], folders = [], variables = [] }: Allowed,
): PastedServer {
  const { entry = {} } = given
  const { network, write, env } = entry
  const named = secretNames(JSON.stringify(entry))
  const missing = variables.filter((each) => !named.includes(each))
  return {
    ...given,
    entry: {
      ...entry,
      ...(hosts.length > 0 && network !== true && { network: withMore(network, hosts) }),
      ...(folders.length > 0 && { write: withMore(write, folders) }),
      ...(missing.length > 0 && {
        env: {
          ...(isPlainObject(env) ? (env as JsonObject) : {}),
          ...Object.fromEntries(missing.map((each) => [each, `\${${each}}`])),
        },
      }),
    },
  }
}

function withMore(before: Json | undefined, more: readonly string[]): Json[] {
  return [...new Set([...(Array.isArray(before) ? before : []), ...more])]
}
