import type { Effect } from '../../contract/policy.ts'
import { isTrustworthyUrl } from '../../kit/match/loopback.ts'
import { readHostPattern } from '../../kit/match/host-pattern.ts'
import { readPrivateHost } from '../../kit/match/read-private-host.ts'
import { readCommandPattern } from '../../kit/shell/command-pattern.ts'

const schemes = ['handrail:file:', 'handrail:host:', 'handrail:exec:', 'handrail:tool:']

/** Why a pattern of canonical names matches no tool there could be; undefined if it may match one. */
export function findToolFlaw(pattern: string): string | undefined {
  if (!/^[A-Za-z0-9_.*-]+$/.test(pattern))
    return `"${pattern}" could never match: names of tools have letters, digits, "_", "-" and ".", and "*" stands for any of them.`
  if (pattern.includes('..') || pattern.startsWith('.') || pattern.endsWith('.'))
    return `"${pattern}" could never match: no part of a tool's name is empty.`
  if (!pattern.includes('*') && !pattern.includes('.'))
    return `"${pattern}" could never match: names of tools have two parts or more. For a whole group, write "${pattern}.*".`
  return undefined
}

/** Why a pattern of tenants or actors matches none there could be. */
export function findIdFlaw(pattern: string): string | undefined {
  return /^[A-Za-z0-9_*][A-Za-z0-9_.@*-]*$/.test(pattern)
    ? undefined
    : `"${pattern}" could never match: ids have letters, digits, "_", ".", "@" and "-", and "*" stands for any of them.`
}

/** Why a pattern of those who answer approvals matches none: actors, and persons of a login by the issuer and their name there. */
export function findDeciderFlaw(pattern: string): string | undefined {
  return /^https?:\/\/[^\s#]+#[^\s#]+$/.test(pattern) ? undefined : findIdFlaw(pattern)
}

/** Why a URL is none for keys and tokens: over a wire that others can read they are none. */
export function findUrlFlaw(url: string): string | undefined {
  if (!URL.canParse(url)) return `"${url}" is not a URL. Write it from "https://" on.`
  if (new URL(url).hash !== '') return `"${url}" has a fragment. Leave it out.`
  if (isTrustworthyUrl(url)) return undefined
  return `"${url}" is not encrypted. Use https, or http on this machine only.`
}

/** Why a host pattern matches no host. */
export function findHostFlaw(pattern: string): string | undefined {
  if (pattern === '*' || /^(\*\.)?[A-Za-z0-9_*-]+(\.[A-Za-z0-9_*-]+)*$/.test(pattern)) return undefined
  if (/^\[?[0-9A-Fa-f]*:[0-9A-Fa-f]*:[0-9A-Fa-f:.]*\]?$/.test(pattern)) return undefined
  return `"${pattern}" could never match: give the name of a host without scheme, port and path, "*.example.com" for all below a name, or "*"; characters outside of ASCII in their "xn--" form.`
}

/** The same where a pattern may name a port, as in `db.example:5432`. */
export function findReachFlaw(pattern: string): string | undefined {
  const { host, port } = readHostPattern(pattern)
  if (port === undefined) return findHostFlaw(pattern)
  if (port < 1 || port > 65_535) return `"${pattern}" could never match: ports are numbers from 1 to 65535.`
  return findHostFlaw(host) === undefined ? undefined : findHostFlaw(pattern)
}

/** Why no environment variable has this name. */
export function findVariableFlaw(name: string): string | undefined {
  return /^[A-Za-z_][A-Za-z0-9_]{0,127}$/.test(name)
    ? undefined
    : `"${name}" is not a name of an environment variable: letters, digits and "_", and no digit first.`
}

/** Why a private host stands for nothing. */
export function findPrivateHostFlaw(host: string): string | undefined {
  if (readPrivateHost(host) !== undefined) return undefined
  return `"${host}" stands for nothing: give the name of a host, "*.example.com", an address, or a range such as "10.1.0.0/16", each with or without ":8080" at its end.`
}

/** Why a program pattern matches no program: with a slash it is a pattern of an absolute path. */
export function findProgramFlaw(pattern: string): string | undefined {
  if (pattern === '') return 'An empty text could never match: name a program.'
  if (!pattern.includes('/')) return undefined
  if (!/^[/*]/.test(pattern))
    return `"${pattern}" could never match: programs are known by their absolute path. Begin it with "/", or name the program without any "/".`
  return hasIdleSegment(pattern)
    ? `"${pattern}" could never match: paths have no empty, "." or ".." segment and no "/" at the end.`
    : undefined
}

/** Why a pattern of commands matches none. A rule that allows covers each command by itself, and no file that one is redirected to. */
export function findCommandFlaw(pattern: string, effect: Effect): string | undefined {
  const { parts, redirects } = readCommandPattern(pattern)
  if (parts.length === 0) return `"${pattern}" could never match: name a command.`
  if (effect !== 'allow') return undefined
  if (parts.length > 1)
    return `"${pattern}" could never match: each command of a command line is allowed by itself. Write one pattern for each, without operators.`
  return redirects
    ? `"${pattern}" could never match: no rule on commands allows to write or read a file by ">" or "<". Take the redirection out.`
    : undefined
}

/** Why a folder cannot be used as a root: a root is absolute, and is not a pattern. */
export function findFolderFlaw(folder: string): string | undefined {
  if (!/^(\/|~(\/|$)|\{project\}(\/|$))/.test(folder))
    return `"${folder}" is not an absolute path. Write it from "/", "~/" or "{project}/" on.`
  if (folder.includes('*'))
    return `"${folder}" would match nothing: a folder stands for all below it, and takes no "*".`
  return hasIdleSegment(folder)
    ? `"${folder}" would match nothing: paths have no empty, "." or ".." segment and no "/" at the end.`
    : undefined
}

/** Why a folder is that of no project. */
export function findProjectFlaw(folder: string): string | undefined {
  if (folder.startsWith('{project}'))
    return `"${folder}" would be every project. Take it out, or name the folder of one.`
  return findFolderFlaw(folder)
}

/** Why a resource pattern matches nothing that a call could reach. */
export function findResourceFlaw(resource: string): string | undefined {
  if (resource === '*') return undefined
  const scheme = schemes.find((each) => resource.startsWith(each))
  if (scheme === undefined) return `"${resource}" starts with none of ${schemes.join(', ')}.`
  const pattern = resource.slice(scheme.length)
  switch (scheme) {
    case 'handrail:file:':
      return findFileFlaw(resource, pattern)
    case 'handrail:host:':
      return findHostFlaw(pattern)
    case 'handrail:exec:':
      return pattern.includes('/') || pattern.startsWith('*')
        ? findProgramFlaw(pattern)
        : `"${resource}" could never match: programs are known by their absolute path. Begin it with "/" or "*/".`
    default:
      return findToolFlaw(pattern)
  }
}

function findFileFlaw(resource: string, path: string): string | undefined {
  if (!/^(\/|~\/|~$|\{project\}(\/|$)|\*)/.test(path))
    return `"${resource}" could never match: begin the path with "/", "~/", "{project}/" or "**/".`
  return hasIdleSegment(path)
    ? `"${resource}" could never match: paths have no empty, "." or ".." segment and no "/" at the end; for all below a folder, end with "/**".`
    : undefined
}

/** Resolved paths have no such segment. */
function hasIdleSegment(path: string): boolean {
  return path !== '/' && /\/\.{0,2}(\/|$)/.test(path)
}
