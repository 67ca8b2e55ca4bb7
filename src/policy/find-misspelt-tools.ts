import type { Policy, Rule } from '../contract/policy.ts'
import type { PolicyChange } from '../contract/runtime.ts'
import { pointerTo } from '../kit/json/json-pointer.ts'
import { measureLikeness } from '../kit/text/nearest-names.ts'

/** A name that forbids or asks nothing, as no tool has it, and that looks like one that a tool has. */
export interface MisspeltTool {
  /** Where it stands in the options. */
  readonly pointer: string
  readonly named: string
  readonly meant: string
}

/** From here on a name is rather the other one with a slip of the keyboard than another tool, which may be missing with reason. */
const alike = 0.75

/**
 * The names in what denies and asks that are probably misspelt. What allows is left out: it fails closed. So are patterns, and names like
 * none of these, which may be of a tool that others have.
 */
export function findMisspeltTools(change: PolicyChange, names: ReadonlySet<string>): MisspeltTool[] {
  const { policy = {}, projectConfiguration, disallowedTools = [] } = change
  const lists: [pointer: string, list: readonly string[]][] = [
    ...listsOf('/policy', policy),
    ...Object.entries(policy.tenants ?? {}).flatMap(([tenant, own]) =>
      listsOf(pointerTo('/policy/tenants', tenant), own),
    ),
    ...listsOf('/projectConfiguration', projectConfiguration ?? {}),
    ['/disallowedTools', disallowedTools],
  ]
  return lists.flatMap(([at, list]) =>
    list.flatMap((named, index) => {
      const meant = names.has(named) || named.includes('*') ? undefined : mostAlike(named, names)
      return meant === undefined ? [] : [{ pointer: pointerTo(at, index), named, meant }]
    }),
  )
}

type Lists = Pick<Policy, 'rules'> & { readonly disallowedTools?: readonly string[] }

function listsOf(at: string, { rules = [], disallowedTools = [] }: Lists): [string, readonly string[]][] {
  return [
    ...rules.flatMap(({ effect, tools = [] }: Rule, index): [string, readonly string[]][] =>
      effect === 'allow' ? [] : [[`${at}/rules/${index}/tools`, tools]],
    ),
    [`${at}/disallowedTools`, disallowedTools],
  ]
}

function mostAlike(named: string, names: ReadonlySet<string>): string | undefined {
  const likeness = measureLikeness(named)
  let best: string | undefined
  let most = alike
  for (const name of names) {
    const score = likeness(name)
    if (score < most) continue
    best = name
    most = score
  }
  return best
}
