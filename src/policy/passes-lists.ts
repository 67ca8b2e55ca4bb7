import { matchPattern } from '../kit/match/match-pattern.ts'

/** Two lists of names or patterns: an empty one of what is allowed means no filter, and what is disallowed beats it. */
export interface ToolLists {
  allowed: readonly string[]
  disallowed: readonly string[]
}

/** Whether two lists leave this tool. */
export function passesLists(name: string, { allowed, disallowed }: ToolLists): boolean {
  if (disallowed.some((pattern) => matchPattern(pattern, name))) return false
  return allowed.length === 0 || allowed.some((pattern) => matchPattern(pattern, name))
}
