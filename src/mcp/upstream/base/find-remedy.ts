import { existsSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, dirname, isAbsolute, join, resolve } from 'node:path'
import type { UpstreamServer, UpstreamTransport } from '../../../contract/mcp/upstream.ts'
import { isInside } from '../../../kit/match/is-inside.ts'
import { fetchesPackage } from '../../packages/read-package-command.ts'
import { showLine } from '../../../kit/text/show-safely.ts'
import { findPackage } from './find-package.ts'
import { findUnreached } from './find-addresses.ts'
import type { ServerLog } from './server-log.ts'

/** A try to connect to a server, as far as it came. */
export interface Attempt {
  readonly server: UpstreamServer
  readonly log: ServerLog
  /** The folders that its program sees, absolute. */
  readonly roots: readonly string[]
  /** Whether packages are fetched for servers here. */
  readonly fetches: boolean
}

export type Program = Extract<UpstreamTransport, { kind: 'stdio' }>

/** What would let a program start that did not; undefined if that is not known. Looks at what there is on the machine. */
export function findRemedy({ server, log, roots, fetches }: Attempt, program: Program): string | undefined {
  const name = basename(program.command)
  if (name === 'docker' || name === 'podman')
    return `"${name}" speaks to a daemon outside of the sandbox, where nothing in it leads. Name the program of the server itself, or start the container yourself and name its "url".`
  const isOffline =
    server.hosts.length === 0 &&
    fetchesPackage(program.command, program.args) &&
    !(fetches && findPackage(server) !== undefined)
  const files = [...findFiles(program.args, roots), ...findPlaces(program.env)]
  const missed = findMissed(log.read())
  const wanted = [...files, ...findPackages(log.read(), files)]
  const hidden = unique(wanted.filter((path) => isHidden(path, roots)))
  // Whatever a program says, it is the operator's words alone that propose what it may see.
  const named = unique(missed.filter((path) => !wanted.includes(path) && isHidden(path, roots)))
  const absent = files.filter((path) => missed.includes(path) && !existsSync(path))
  const read = unique(hidden.flatMap((path) => folderOf(path) ?? []))
  const lines = [
    ...toGone(program),
    ...(isOffline
      ? [
          program.fetch === undefined
            ? `Its entry in mcp.json says that nothing is fetched for it. Take "fetch": false out, or name the program itself as "command".`
            : `"${name}" fetches what it runs. From a registry that is done for it; from elsewhere, or with other options, it fetches anew at each start and reaches the network for that.`,
        ]
      : []),
    ...toHidden(hidden),
    ...(named.length === 0
      ? []
      : [`It says that it misses ${quoted(named)}, which the sandbox hides from it.`]),
    ...(absent.length === 0 ? [] : [`There is no ${quoted(absent)} on this machine. Correct "args".`]),
    ...(log.stray === undefined
      ? []
      : [
          `It writes to its standard output what is not a message: "${log.stray}". It may need another argument to speak MCP there; logs belong on the standard error output.`,
        ]),
    ...toUnreached(server, program),
    ...toLooked(log),
    ...toAdditions(program, {
      network: isOffline && program.fetch !== undefined ? true : networkOf(server, program),
      read,
    }),
  ]
  return lines.length === 0 ? undefined : lines.join('\n')
}

/** What could be better of a server that answers, and what of it will fail; undefined if nothing is known. */
export function findFlaw({ server, log, roots }: Attempt): string | undefined {
  const { transport } = server
  if (transport.kind === 'http') return undefined
  const files = [...findFiles(transport.args, roots), ...findPlaces(transport.env)]
  const hidden = unique(files.filter((path) => isHidden(path, roots)))
  const lines = [
    ...(log.stray === undefined
      ? []
      : [
          `It writes to its standard output what is not a message, and is left out: "${log.stray}". Logs belong on the standard error output.`,
        ]),
    ...toGone(transport),
    ...toHidden(hidden),
    ...toUnreached(server, transport),
    ...toLooked(log),
    ...toAdditions(transport, {
      network: networkOf(server, transport),
      read: unique(hidden.flatMap((path) => folderOf(path) ?? [])),
    }),
  ]
  return lines.length === 0 ? undefined : lines.join('\n')
}

function toGone(program: Program): string[] {
  const gone = [...program.read, ...program.write].filter(
    (folder) => isAbsolute(folder) && !existsSync(folder),
  )
  return gone.length === 0
    ? []
    : [`There is no ${quoted(gone)} on this machine. Make it, or correct "read" and "write".`]
}

function toUnreached({ hosts }: UpstreamServer, program: Program): string[] {
  const unreached = findUnreached(program, hosts)
  return unreached.length === 0 ? [] : [`Its entry names ${quoted(unreached)}, which it may not reach.`]
}

/** Whatever a program says, it is the operator's words alone that propose what it may reach. */
function toLooked(log: ServerLog): string[] {
  const said = log.read().matchAll(/getaddrinfo (?:EAI_AGAIN|ENOTFOUND) ([\w.-]+)/g)
  const looked = unique([...said].map(([, host = '']) => host))
  return looked.length === 0
    ? []
    : [`It says that it looks for ${quoted(looked)}, which "network" of its entry does not let it reach.`]
}

/** What its entry would have to say for it to reach what it names. */
function networkOf({ hosts }: UpstreamServer, program: Program): readonly string[] {
  const unreached = findUnreached(program, hosts)
  return unreached.length === 0 ? [] : [...hosts, ...unreached]
}

function toHidden(hidden: readonly string[]): string[] {
  if (hidden.length === 0) return []
  const mayBeWritten = hidden.some(isFolder) ? ' One that it is to write to belongs under "write".' : ''
  return [`The sandbox hides ${quoted(hidden)} from it.${mayBeWritten}`]
}

function isFolder(place: string): boolean {
  return statSync(place, { throwIfNoEntry: false })?.isDirectory() ?? false
}

/** What an entry would have to say, as whole fields, for its program to have what the operator's own words name. */
export interface Wants {
  readonly network?: true | readonly string[]
  readonly read?: readonly string[]
}

/** What a program is kept from that its entry names, as the fields that would let it. Empty for a server on the web. */
export function findWants({ server, log, roots, fetches }: Attempt): Wants {
  const { transport } = server
  if (transport.kind === 'http') return {}
  const files = [...findFiles(transport.args, roots), ...findPlaces(transport.env)]
  const wanted = [...files, ...findPackages(log.read(), files)]
  const hidden = unique(wanted.filter((path) => isHidden(path, roots)))
  const read = unique(hidden.flatMap((path) => folderOf(path) ?? []))
  const needsAll =
    transport.fetch !== undefined &&
    server.hosts.length === 0 &&
    fetchesPackage(transport.command, transport.args) &&
    !(fetches && findPackage(server) !== undefined)
  const network = needsAll ? (true as const) : networkOf(server, transport)
  return {
    ...((network === true || network.length > 0) && { network }),
    ...(read.length > 0 && { read: unique([...standing(transport.read), ...read]) }),
  }
}

/** Folders that an entry names and that are there. */
function standing(folders: readonly string[]): string[] {
  return folders.filter((folder) => !isAbsolute(folder) || existsSync(folder))
}

/** The exact lines. What it may see is for the operator to say. */
function toAdditions(
  { read: before }: Program,
  add: { network: true | readonly string[]; read: readonly string[] },
): string[] {
  const lines = [
    ...(add.network === true || add.network.length > 0 ? [`"network": ${JSON.stringify(add.network)}`] : []),
    ...(add.read.length > 0 ? [`"read": ${JSON.stringify(unique([...standing(before), ...add.read]))}`] : []),
  ]
  if (lines.length === 0) return []
  return ['If it may have that, its entry in mcp.json needs:', ...lines.map((line) => `  ${showLine(line)}`)]
}

/** The paths that arguments name, as its program takes them: by themselves, or behind the name of an option. */
function findFiles(args: readonly string[], [cwd = '/']: readonly string[]): string[] {
  return args.map((each) => resolve(cwd, /^-[^=]*=(.*)$/s.exec(each)?.[1] ?? each))
}

/** The paths that its environment names. What is not there yet is where its folder is. */
function findPlaces(env: Program['env']): string[] {
  return Object.values(env)
    .filter((value) => isAbsolute(value))
    .map((value) => (existsSync(value) ? value : dirname(value)))
    .filter(isNarrow)
}

/** Packages that are missed, where they lie above a file that is run. */
function findPackages(log: string, files: readonly string[]): string[] {
  const names = unique(
    [...log.matchAll(/Cannot find (?:package|module) '([^'./][^']*)'/g)].map(([, name = '']) => name),
  )
  return names.flatMap((name) =>
    files
      .flatMap((file) => foldersOver(file).map((folder) => join(folder, 'node_modules', name)))
      .filter((each) => existsSync(each)),
  )
}

const missing = /ENOENT|EACCES|cannot (?:find|access|open)|can't open|no such file|not exist|not found/i
const path = /['"`]?(\/[^'"`\n,:;()]+)/g
const mostPaths = 50

/** Absolute paths in lines that say that something is not there. */
function findMissed(log: string): string[] {
  const lines = log.split('\n').filter((line) => missing.test(line))
  const found = lines.flatMap((line) => [...line.matchAll(path)].map(([, each = '']) => each.trim()))
  return unique(found).slice(0, mostPaths)
}

/** It is there, and nothing that the program sees holds it. */
function isHidden(place: string, roots: readonly string[]): boolean {
  return (
    isAbsolute(place) &&
    place !== '/' &&
    !systemFolders.some((folder) => isInside(place, folder)) &&
    !roots.some((root) => isInside(place, root)) &&
    existsSync(place)
  )
}

const systemFolders = ['/usr', '/bin', '/sbin', '/lib', '/lib64', '/etc', '/dev', '/proc', '/sys']
const projectFiles = ['package.json', 'pyproject.toml', '.git']

/** The folder that a program has to see for this to work: the packages or the project that a file belongs to. Never all of a home. */
function folderOf(place: string): string | undefined {
  const packages = /^.*?\/node_modules(?=\/)/.exec(place)?.[0]
  if (packages !== undefined) return packages
  if (isFolder(place)) return isNarrow(place) ? place : undefined
  const above = foldersOver(place)
  return above.find((folder) => projectFiles.some((file) => existsSync(join(folder, file)))) ?? above[0]
}

/** From the inmost to those that hold more than what is meant. */
function foldersOver(file: string): string[] {
  const folders: string[] = []
  for (let folder = dirname(file); isNarrow(folder); folder = dirname(folder)) folders.push(folder)
  return folders
}

function isNarrow(folder: string): boolean {
  return folder !== '/' && !isInside(homedir(), folder)
}

function quoted(paths: readonly string[]): string {
  return paths.map((each) => `"${showLine(each)}"`).join(', ')
}

function unique(values: readonly string[]): string[] {
  return [...new Set(values)]
}
