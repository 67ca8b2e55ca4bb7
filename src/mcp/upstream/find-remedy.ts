import { existsSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, dirname, isAbsolute, join, resolve } from 'node:path'
import type { UpstreamServer, UpstreamTransport } from '../../contract/upstream.ts'
import { isInside } from '../../kit/is-inside.ts'
import { showLine } from '../../kit/show-safely.ts'
import type { ServerLog } from './server-log.ts'

/** A try to connect to a server, as far as it came. */
export interface Attempt {
  readonly server: UpstreamServer
  readonly log: ServerLog
  /** The folders that its program sees, absolute. */
  readonly roots: readonly string[]
}

type Program = Extract<UpstreamTransport, { kind: 'stdio' }>

/** Programs that fetch what they run, and the variable that says where they keep it. */
const fetchers: { readonly [program: string]: string } = {
  npx: 'npm_config_cache',
  npm: 'npm_config_cache',
  pnpm: 'XDG_CACHE_HOME',
  pnpx: 'XDG_CACHE_HOME',
  yarn: 'YARN_CACHE_FOLDER',
  bunx: 'BUN_INSTALL_CACHE_DIR',
  uvx: 'UV_CACHE_DIR',
  uv: 'UV_CACHE_DIR',
  pipx: 'PIPX_HOME',
}

/** What would let a program start that did not; undefined where that is not known. Looks at what there is on the machine. */
export function findRemedy({ server, log, roots }: Attempt, program: Program): string | undefined {
  const name = basename(program.command)
  if (name === 'docker' || name === 'podman')
    return `"${name}" speaks to a daemon outside of the sandbox, where nothing in it leads. Name the program of the server itself, or start the container yourself and name its "url".`
  const cache = Object.hasOwn(fetchers, name) ? fetchers[name] : undefined
  const isOffline = cache !== undefined && server.hosts.length === 0
  const files = [...findFiles(program.args, roots), ...findPlaces(program.env)]
  const missed = findMissed(log.read())
  const wanted = [...files, ...findPackages(log.read(), files)]
  const hidden = unique(wanted.filter((path) => isHidden(path, roots)))
  // Whatever a program says, it is the operator's words alone that propose what it may see.
  const named = unique(missed.filter((path) => !wanted.includes(path) && isHidden(path, roots)))
  const absent = files.filter((path) => missed.includes(path) && !existsSync(path))
  const read = unique(hidden.flatMap((path) => folderOf(path) ?? []))
  const gone = [...program.read, ...program.write].filter(
    (folder) => isAbsolute(folder) && !existsSync(folder),
  )
  const lines = [
    ...(gone.length === 0
      ? []
      : [`There is no ${quoted(gone)} on this machine. Correct "read" and "write".`]),
    ...(isOffline
      ? [
          `"${name}" fetches what it runs, and reaches no network. It fetches anew at each start: to keep that, name a folder under "write", and in "env" as "${cache}".`,
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
          `It writes to its standard output what is no message: "${log.stray}". It may need another argument to speak MCP there; logs belong on the standard error output.`,
        ]),
    ...toAdditions(program, { network: isOffline, read }),
  ]
  return lines.length === 0 ? undefined : lines.join('\n')
}

/** What could be better of a server that answers; undefined where nothing is known. */
export function findFlaw({ server: { transport }, log, roots }: Attempt): string | undefined {
  if (transport.kind === 'http') return undefined
  const files = [...findFiles(transport.args, roots), ...findPlaces(transport.env)]
  const hidden = unique(files.filter((path) => isHidden(path, roots)))
  const lines = [
    ...(log.stray === undefined
      ? []
      : [
          `It writes to its standard output what is no message, and is left out: "${log.stray}". Logs belong on the standard error output.`,
        ]),
    ...(hidden.length === 0
      ? []
      : [
          ...toHidden(hidden),
          ...toAdditions(transport, {
            network: false,
            read: unique(hidden.flatMap((path) => folderOf(path) ?? [])),
          }),
        ]),
  ]
  return lines.length === 0 ? undefined : lines.join('\n')
}

function toHidden(hidden: readonly string[]): string[] {
  if (hidden.length === 0) return []
  const mayBeWritten = hidden.some(isFolder) ? ' One that it is to write to belongs under "write".' : ''
  return [`The sandbox hides ${quoted(hidden)} from it.${mayBeWritten}`]
}

function isFolder(place: string): boolean {
  return statSync(place, { throwIfNoEntry: false })?.isDirectory() ?? false
}

/** The exact lines. What it may see is for the operator to say. */
function toAdditions(
  { read: before }: Program,
  add: { network: boolean; read: readonly string[] },
): string[] {
  const lines = [
    ...(add.network ? ['"network": true'] : []),
    ...(add.read.length > 0
      ? [
          `"read": ${JSON.stringify(unique([...before.filter((folder) => !isAbsolute(folder) || existsSync(folder)), ...add.read]))}`,
        ]
      : []),
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
