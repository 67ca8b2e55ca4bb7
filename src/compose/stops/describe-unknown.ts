import type { StopScope } from '../../contract/base/stop.ts'
import type { Registry } from '../../contract/registry.ts'
import { nearestNames } from '../../kit/text/nearest-names.ts'

/** What a stop could name. */
export interface Nameable {
  readonly registry: Pick<Registry, 'view' | 'identityOf'>
  /** Of `mcp.json`, whether or not they can be used. */
  readonly servers: readonly string[]
  /** Whose tools count if the stop names no tenant. */
  readonly tenants: readonly string[]
}

/**
 * Says which tool or server a stop names that there is not now; undefined if all is there. It may come yet, so the stop holds. A pattern means what there
 * will be.
 */
export function describeUnknown(
  { tools, server, tenant }: StopScope,
  { registry, servers, tenants }: Nameable,
): string | undefined {
  const meant = tenant === undefined ? tenants : [tenant]
  const found = meant.flatMap((each) => registry.view(each).list())
  const names = [...new Set(found.map(({ definition }) => definition.name))]
  // Another program on the store may have it.
  const isThere = (tool: string): boolean =>
    tool.includes('*') || meant.some((each) => registry.identityOf(tool, each) !== undefined)
  const missing = [
    ...(tools === undefined || isThere(tools) ? [] : describe('tool', tools, names)),
    ...(server === undefined ? [] : describe('server', server, servers)),
  ]
  return missing.length === 0 ? undefined : missing.join(' ')
}

function describe(what: string, name: string, names: readonly string[]): string[] {
  if (names.includes(name)) return []
  const nearest = nearestNames(name, names).map((each) => `"${each}"`)
  const hint = nearest.length === 0 ? '' : ` Did you mean ${nearest.join(', ')}?`
  return [`No ${what} is named "${name.slice(0, 100)}" now, so this means nothing until one is.${hint}`]
}
