import type { UpstreamServer } from '../../../contract/mcp/upstream.ts'
import { matchPattern } from '../../../kit/match/match-pattern.ts'
import { nearestNames } from '../../../kit/text/nearest-names.ts'
import { nameLine } from '../../../kit/text/one-line.ts'

/** A pattern of the operator that meets none of the tools of its server. */
export interface IdlePattern {
  /** Where it stands under `tools`. */
  readonly field: 'allow' | 'deny' | 'readonly'
  readonly pattern: string
  /** The names that are nearest to it, as the server has them; where none is near, some of those that there are. */
  readonly near: readonly string[]
}

const fields = ['allow', 'deny', 'readonly'] as const
const most = 3

/** The patterns for a server that meet none of these names of its tools; none of them where it has no tools. */
export function findIdlePatterns({ tools }: UpstreamServer, names: readonly string[]): IdlePattern[] {
  if (names.length === 0) return []
  return fields.flatMap((field) =>
    tools[field]
      .filter((pattern) => !names.some((name) => matchPattern(pattern, name)))
      .map((pattern) => ({ field, pattern, near: findNear(pattern, names) })),
  )
}

function findNear(pattern: string, names: readonly string[]): string[] {
  const near = nearestNames(pattern, names, most)
  return (near.length > 0 ? near : names.slice(0, most)).map(nameLine)
}

/** The same for the operator. */
export function describeIdlePattern({ field, pattern, near }: IdlePattern): string {
  const names = near.map((name) => `"${name}"`).join(', ')
  return `"${pattern}" under "${field}" of its "tools" meets none of its tools. It has ${names}.`
}
