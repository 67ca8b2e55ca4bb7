import type { StopScope } from '../../contract/base/stop.ts'
import { matchPattern } from '../../kit/match/match-pattern.ts'
import { toSegment } from '../../kit/names/name-segment.ts'

/** What a stop is held against: a call, or work of an agent, which has neither tool nor source. */
export interface Stoppable {
  readonly tenant: string
  readonly actor: string
  /** Canonical name. */
  readonly tool: string | undefined
  /** The source of the tool. */
  readonly source: string | undefined
}

/** Whether a scope means this. */
export function meetsScope({ tenant, actor, server, tools }: StopScope, about: Stoppable): boolean {
  return (
    (tenant === undefined || tenant === about.tenant) &&
    (actor === undefined || actor === about.actor) &&
    (server === undefined || isOfServer(about, `mcp.${toSegment(server, 64)}`)) &&
    (tools === undefined || (about.tool !== undefined && matchPattern(tools, about.tool)))
  )
}

/** A tool that an agent has from a server itself comes from no source of that name here, and is named as that of one. */
function isOfServer({ source, tool }: Stoppable, name: string): boolean {
  return source === name || tool?.startsWith(`${name}.`) === true
}

/** What a scope means, in words. */
export function describeScope({ tenant, actor, server, tools }: StopScope): string {
  const parts = [
    ...(tools === undefined ? [] : [`the tools "${tools}"`]),
    ...(server === undefined ? [] : [`the server "${server}"`]),
    ...(actor === undefined ? [] : [`calls of "${actor}"`]),
    ...(tenant === undefined ? [] : [`the tenant "${tenant}"`]),
  ]
  return parts.length === 0 ? 'everything' : parts.join(', ')
}
