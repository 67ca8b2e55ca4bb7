import type { Grant } from '../../contract/policy.ts'
import type { Principal } from '../../contract/base/principal.ts'
import type { ToolDefinition } from '../../contract/tool/tool.ts'
import { matchPattern, meetsPatterns } from '../../kit/match/match-pattern.ts'

/** Where grants and their folders are. */
export interface GrantPlaces {
  home: string
  project: string
  /** The path with links resolved, or the path itself where nothing is there: what calls reach is known by real paths. */
  real(path: string): string
}

/** A grant made ready to match, its folders absolute. */
export interface CompiledGrant extends Pick<Grant, 'tenants' | 'actors' | 'roles' | 'tools' | 'scopes'> {
  readonly id: string
  readonly reach: Reach
}

/** What calls under a grant may reach at most; undefined is what the policy bounds, an empty list nothing. */
export interface Reach {
  readonly read: readonly string[] | undefined
  readonly write: readonly string[] | undefined
  readonly hosts: readonly string[] | undefined
  readonly executables: readonly string[] | undefined
}

export function compileGrant(grant: Grant, index: number, places: GrantPlaces): CompiledGrant {
  const { read, write, hosts, executables } = grant.capabilities ?? {}
  const toFolders = (folders: readonly string[] | undefined) =>
    folders?.map((folder) => places.real(toAbsolute(folder, places)))
  return {
    ...grant,
    id: grant.id ?? `grants/${index}`,
    reach: {
      read: toFolders(read),
      // What may be written may be read, so folders to read bound the writing too where nothing else does.
      write: toFolders(write ?? read),
      hosts: hosts?.map((host) => host.toLowerCase()),
      executables,
    },
  }
}

function toAbsolute(folder: string, { home, project }: GrantPlaces): string {
  return folder.replace(/^~(?=\/|$)/, () => home).replace(/^\{project\}(?=\/|$)/, () => project)
}

/** Whether a grant speaks of this tool. */
export function isForTool({ tools }: CompiledGrant, { name }: ToolDefinition): boolean {
  return meetsPatterns(tools, name)
}

/** Whether a grant speaks of this principal. */
export function isForPrincipal({ tenants, actors, roles }: CompiledGrant, principal: Principal): boolean {
  if (roles !== undefined && !roles.includes(principal.role)) return false
  return meetsPatterns(tenants, principal.tenant) && meetsPatterns(actors, principal.actor)
}

/** Whether a grant includes a scope that a tool requires. */
export function givesScope({ scopes }: CompiledGrant, required: ToolDefinition['scopes'][number]): boolean {
  if (scopes === undefined) return true
  return scopes.some(
    ({ resource, actions }) =>
      matchPattern(resource, required.resource) &&
      (actions.includes(required.action) || actions.includes('*')),
  )
}
