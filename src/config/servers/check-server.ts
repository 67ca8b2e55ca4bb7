import { isAbsolute } from 'node:path'
import type { Issue } from '../../contract/base/json.ts'
import type { SchemaChecker } from '../../contract/base/schema.ts'
import { isPlainObject } from '../../kit/json/is-plain-object.ts'
import { pointerTo } from '../../kit/json/json-pointer.ts'
import { nearestNames } from '../../kit/text/nearest-names.ts'
import { checkEach } from '../base/check-lists.ts'
import { findReachFlaw } from '../base/find-flaw.ts'
import { checkOAuth, type OAuthFile } from './oauth-schema.ts'
import { checkTenantId } from '../policy/check-tenants.ts'
import { serverFields } from './upstream-schema.ts'

/** A server as its file says it. */
export interface ServerFile {
  type?: string
  command?: string
  args?: readonly string[]
  env?: Readonly<Record<string, string>>
  cwd?: string
  read?: readonly string[]
  write?: readonly string[]
  fetch?: boolean | readonly string[]
  url?: string
  headers?: Readonly<Record<string, string>>
  oauth?: OAuthFile
  network?: boolean | readonly string[]
  defer?: boolean
  timeout_ms?: number
  connect_timeout_ms?: number
  protocol?: '2025-11-25' | '2026-07-28'
  sampling?: boolean
  tools?: { allow?: readonly string[]; deny?: readonly string[]; readonly?: readonly string[] }
  tenants?: readonly string[] | Readonly<Record<string, TenantFile>>
  enabled?: boolean
  disabled?: boolean
}

/** What one tenant's connection to a server has of its own. */
export interface TenantFile {
  env?: Readonly<Record<string, string>>
  headers?: Readonly<Record<string, string>>
}

interface CheckedServer {
  file: ServerFile | undefined
  /** With pointers into the server. */
  issues: readonly Issue[]
  notices: readonly string[]
}

/**
 * Every issue of a server. Other programs write fields of their own into the same file, so that an unknown one is left out and said; one
 * that looks like one of ours is an issue, as what it should narrow would stand open.
 */
export function checkServer(name: string, value: unknown, checker: SchemaChecker): CheckedServer {
  const given = isPlainObject(value) ? value : {}
  const strange = Object.keys(given).filter((field) => !Object.hasOwn(serverFields, field))
  const misspelt = strange.filter((field) => findMeant(field) !== undefined)
  const known = Object.fromEntries(
    Object.entries(given).filter(([field]) => Object.hasOwn(serverFields, field)),
  )
  const checked = checker.check(
    { type: 'object', properties: serverFields },
    isPlainObject(value) ? known : value,
  )
  const issues: Issue[] = misspelt.map((field) => ({
    pointer: pointerTo('', field),
    code: 'unknown_field',
    message: `There is no "${field}". Did you mean "${findMeant(field)}"?`,
  }))
  const notices = strange
    .filter((field) => !misspelt.includes(field))
    .map((field) => `"${field}" of the server "${name}" means nothing here, and is left out.`)
  if (!checked.ok) return { file: undefined, issues: [...issues, ...checked.issues], notices }
  // The schema of a server has just been held against the value.
  const file = checked.value as ServerFile
  return {
    file,
    issues: [
      ...issues,
      ...checkWay(file),
      ...checkValues(file),
      ...checkTenants(file),
      ...checkLogin(file),
      ...checkNetwork(file),
    ],
    notices,
  }
}

function checkNetwork(file: ServerFile): Issue[] {
  return (['network', 'fetch'] as const).flatMap((field) => {
    const hosts = file[field]
    const named = typeof hosts === 'object' ? hosts : []
    return checkEach(named, `/${field}`, { code: 'never_matches', find: findReachFlaw })
  })
}

function checkLogin({ oauth, url, headers = {} }: ServerFile): Issue[] {
  return oauth === undefined ? [] : checkOAuth(oauth, { url, headers })
}

/** The credentials of tenants are held against what the server itself may have. */
function checkTenants({ tenants = [], url }: ServerFile): Issue[] {
  if (isList(tenants)) return tenants.flatMap((tenant, index) => checkTenantId(tenant, `/tenants/${index}`))
  const ids = Object.keys(tenants).flatMap((tenant) => checkTenantId(tenant, pointerTo('/tenants', tenant)))
  const ofEach = Object.entries(tenants).flatMap(([tenant, own]) => {
    const pointer = pointerTo('/tenants', tenant)
    const foreign = url === undefined ? 'headers' : 'env'
    const misplaced = own[foreign] === undefined ? [] : [misplacedField(foreign, url)]
    return [...misplaced, ...checkValues(own)].map((issue) => ({
      ...issue,
      pointer: pointer + issue.pointer,
    }))
  })
  return [...ids, ...ofEach]
}

/** Whether tenants are only named. */
export function isList(tenants: ServerFile['tenants']): tenants is readonly string[] | undefined {
  return tenants === undefined || Array.isArray(tenants)
}

function misplacedField(field: string, url: string | undefined): Issue {
  return {
    pointer: `/${field}`,
    code: 'invalid_server',
    message: `"${field}" means nothing for a server with a "${url === undefined ? 'command' : 'url'}".`,
  }
}

/** The field of ours that an unknown one probably is. */
export function findMeant(field: string): string | undefined {
  const [nearest] = nearestNames(field, Object.keys(serverFields), 1)
  if (nearest === undefined) return undefined
  const isClose = Math.abs(nearest.length - field.length) <= 2 && field[0]?.toLowerCase() === nearest[0]
  return isClose ? nearest : undefined
}

function checkWay({ type, command, args, env, cwd, read, write, fetch, url, headers }: ServerFile): Issue[] {
  const issues: Issue[] = []
  const refuse = (pointer: string, message: string) =>
    issues.push({ pointer, code: 'invalid_server', message })
  if (url === undefined && command === undefined)
    refuse('', 'It has neither a "command" nor a "url". Give one of them.')
  if (url !== undefined && command !== undefined)
    refuse('', 'It has both a "command" and a "url". Leave one of them out.')
  if (type === 'stdio' && command === undefined) refuse('/type', 'A server on stdio needs a "command".')
  if (type !== undefined && type !== 'stdio' && url === undefined)
    refuse('/type', `A server of the type "${type}" needs a "url".`)
  const others = url === undefined ? { headers } : { args, env, cwd, read, write, fetch }
  for (const [field, value] of Object.entries(others))
    if (value !== undefined) issues.push(misplacedField(field, url))
  if (url !== undefined) issues.push(...checkUrl(url))
  if (command !== undefined && [command, ...(args ?? [])].some((part) => part.includes('\0')))
    refuse('/command', 'An argument contains a NUL byte. Leave it out.')
  if (cwd !== undefined && !isAbsolute(cwd) && !cwd.startsWith('~/'))
    refuse('/cwd', `"${cwd}" is not an absolute path. Write it from "/" or "~/" on.`)
  for (const [field, folders] of Object.entries({ read, write }))
    for (const [index, folder] of (folders ?? []).entries())
      if (/^\/+$/.test(folder))
        refuse(`/${field}/${index}`, 'That is the whole machine. Name the folders that it needs.')
      else if (folder !== 'project' && !isAbsolute(folder) && !folder.startsWith('~/'))
        refuse(
          `/${field}/${index}`,
          `"${folder}" is not an absolute path. Write it from "/" or "~/" on, or "project".`,
        )
  return issues
}

/** An address may hold a secret, so that an issue does not show it. */
function checkUrl(text: string): Issue[] {
  const refuse = (message: string): Issue[] => [{ pointer: '/url', code: 'invalid_url', message }]
  const [name] = /\$\{[^}]*\}/.exec(text) ?? []
  if (name !== undefined)
    return refuse(`"${name}" stays as it is: only values of "headers" may hold "\${NAME}".`)
  if (!URL.canParse(text)) return refuse('It is not a URL. Write it from "https://" on.')
  const url = new URL(text)
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    return refuse('It is neither http nor https. Write it from "https://" on.')
  if (url.username !== '' || url.password !== '')
    return refuse('It carries a user name or a password. Put them into "headers", as "${NAME}".')
  return []
}

/** The only form that stands for something else: no shell reads these values. */
const nameForm = /^[A-Za-z_][A-Za-z0-9_]*$/

function checkValues({
  env = {},
  headers = {},
  args = [],
  command = '',
}: Pick<ServerFile, 'env' | 'headers' | 'args' | 'command'>): Issue[] {
  const issues: Issue[] = []
  const refuse = (pointer: string, message: string) =>
    issues.push({ pointer, code: 'invalid_value', message })
  for (const [place, values] of Object.entries({ env, headers }))
    for (const [name, value] of Object.entries(values)) {
      const pointer = pointerTo(`/${place}`, name)
      for (const [whole, inside = ''] of value.matchAll(/\$\{([^}]*)\}/g))
        if (!nameForm.test(inside))
          refuse(
            pointer,
            `"${whole}" is not understood. Write "\${NAME}" with the name of an environment variable.`,
          )
      // oxlint-disable-next-line no-control-regex -- these are what must not stand in a header or a variable
      if (/[\0\r\n]/.test(name + value))
        refuse(pointer, 'It contains a line break or a NUL byte. Leave it out.')
    }
  for (const name of Object.keys(env))
    if (name === '' || name.includes('='))
      refuse(pointerTo('/env', name), `"${name}" is not a name of a variable.`)
  for (const name of Object.keys(headers))
    if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name))
      refuse(pointerTo('/headers', name), `"${name}" is not a name of a header.`)
  for (const [index, part] of [command, ...args].entries())
    for (const [whole] of part.matchAll(/\$\{[^}]*\}/g))
      refuse(
        index === 0 ? '/command' : `/args/${index - 1}`,
        `"${whole}" stays as it is: only values of "env" and "headers" may hold "\${NAME}". Hand it over in "env".`,
      )
  return issues
}
