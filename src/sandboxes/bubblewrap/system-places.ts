import { existsSync, lstatSync, readdirSync, readFileSync, readlinkSync, statSync, type Stats } from 'node:fs'
import { basename, dirname, isAbsolute, join } from 'node:path'
import { isInside } from '../../kit/match/is-inside.ts'
import type { SandboxUser } from './sandbox-user.ts'

/** Directories of the system's root that hold its programs, where they are directories of their own and not links into `/usr`. */
const systemFolders = ['bin', 'sbin', 'lib', 'lib32', 'lib64', 'libx32']

/**
 * What programs need of `/etc`: how to find libraries, programs and the time, and nothing that could hold a secret. Each costs every
 * command a mount, so that what serves the network alone is there only with it.
 */
const settings = ['alternatives', 'crypto-policies', 'localtime', 'os-release']
const networkSettings = ['pki/ca-trust', 'pki/tls/certs', 'protocols', 'services', 'ssl/certs']
const javaSettings = /^java[\w.-]*$/

/** What browsers need of `/etc`: for programs of the operator that run on. */
export const serverSettings: readonly string[] = ['fonts', 'chromium', 'chromium.d', 'opt/chrome'].map(
  (name) => join('/etc', name),
)

/** Single files of `/etc`, copied, which costs less than a mount. */
const copiedSettings = ['/etc/ld.so.cache', '/etc/ssl/openssl.cnf']

/** The files of `/etc` that are copied, as far as they are there. */
export function readCopied(): { [path: string]: Buffer } {
  return Object.fromEntries(
    copiedSettings.filter((path) => existsSync(path)).map((path) => [path, readFileSync(path)]),
  )
}

/** Arguments that lay the machine's programs and their settings into a sandbox, all read-only. */
export function systemPlaces({ network }: { network: boolean }): string[] {
  return [
    ...readOnly('/usr'),
    ...systemFolders.flatMap((name) => likeHost(`/${name}`)),
    ...[...settings, ...findJavaSettings(), ...(network ? networkSettings : [])].flatMap((name) =>
      likeHost(join('/etc', name)),
    ),
  ]
}

function findJavaSettings(): string[] {
  return readdirSync('/etc').filter((name) => javaSettings.test(name))
}

/** A link stays a link, anything else is laid over read-only. */
function likeHost(path: string): string[] {
  const stat = lstatSync(path, { throwIfNoEntry: false })
  if (stat === undefined) return []
  if (!stat.isSymbolicLink()) return readOnly(path)
  const target = readlinkSync(path)
  // What the link leads to may not be in the sandbox, as with files that another program keeps in /run.
  const laid =
    isInside(join(dirname(path), target), '/usr') || (isAbsolute(target) && isInside(target, '/usr'))
  return laid ? ['--symlink', target, path] : existsSync(path) ? readOnly(path) : []
}

function readOnly(path: string): string[] {
  return ['--ro-bind', path, path]
}

/**
 * Directories outside of the system's own that the programs of this one need: itself, and the libraries beside it (`lib` beside
 * `bin`). Left out is what the user may not enter.
 */
export function foldersOf(folder: string, user: SandboxUser): string[] {
  const beside = ['lib', 'libexec'].map((name) => join(dirname(folder), name))
  const wanted = /^s?bin$/.test(basename(folder)) && dirname(folder) !== '/' ? [folder, ...beside] : [folder]
  return wanted.filter((place) => !isSystem(place) && canEnter(place, user))
}

/** Whether the sandbox has it from the system anyway. */
function isSystem(path: string): boolean {
  return ['/usr', ...systemFolders.map((name) => `/${name}`)].some((place) => isInside(path, place))
}

/** Whether this is an absolute path of a directory in which the user finds programs. */
export function canEnter(path: string, user: SandboxUser): boolean {
  if (!isAbsolute(path)) return false
  try {
    const stat = statSync(path)
    if (!stat.isDirectory()) return false
    return !user.other || (mayUse(stat, user, 5) && parentsOf(path).every((each) => mayUse(each, user, 1)))
  } catch {
    // Not there, or not for this process to look at.
    return false
  }
}

/** Whether the user comes through a folder and all above it. */
export function canPass(path: string, user: SandboxUser): boolean {
  if (!user.other) return true
  try {
    return [statSync(path), ...parentsOf(path)].every((each) => mayUse(each, user, 1))
  } catch {
    return false
  }
}

function parentsOf(path: string): Stats[] {
  const parent = dirname(path)
  return parent === path ? [] : [statSync(parent), ...parentsOf(parent)]
}

/** By the permission bits alone: a list of further permissions is not looked at. */
export function mayUse(stat: Stats, user: SandboxUser, wanted: number): boolean {
  const shift = stat.uid === user.uid ? 6 : stat.gid === user.gid ? 3 : 0
  return ((stat.mode >> shift) & wanted) === wanted
}
