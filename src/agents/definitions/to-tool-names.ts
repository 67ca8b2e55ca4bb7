import { findKnownTool } from '../../kit/match/known-tools.ts'

/** What became of a list of tools. */
export interface ToolNames {
  readonly names: readonly string[]
  /** Why an entry is not among them. */
  readonly leftOut: readonly string[]
}

/** Canonical names for the tools of a list, which may have the names that models and other agents know. */
export function toToolNames(entries: readonly string[]): ToolNames {
  const names = new Set<string>()
  const leftOut: string[] = []
  for (const entry of entries) {
    const found = findNames(entry)
    if (typeof found === 'string') leftOut.push(found)
    else for (const name of found) names.add(name)
  }
  return { names: [...names], leftOut }
}

/** Names that stand for several tools in a rule, and for one in a list. */
const exact: ReadonlyMap<string, string> = new Map([
  ['Read', 'code.read_file'],
  ['Edit', 'code.edit_file'],
])

function findNames(entry: string): readonly string[] | string {
  if (entry === '*') return ['*']
  if (/[()]/.test(entry))
    return `"${entry}" bounds the input of a tool, which a list of tools cannot. Write a rule of the policy, and the name of the tool alone here.`
  const imported = /^mcp__(.+?)(?:__(.+))?$/.exec(entry)
  if (imported !== null) return [`mcp.${imported[1] ?? ''}.${imported[2] ?? '*'}`]
  const one = exact.get(entry)
  if (one !== undefined) return [one]
  const known = findKnownTool(entry)
  if (known !== undefined) return known.tools
  return /^[A-Za-z0-9_*-]+(\.[A-Za-z0-9_*-]+)+$/.test(entry)
    ? [entry]
    : `"${entry}" is not a tool that is known here. Write its canonical name, such as code.read_file.`
}
