import { readHostPattern, showHostPattern } from '../kit/match/host-pattern.ts'
import { isInside } from '../kit/match/is-inside.ts'
import { matchHost } from '../kit/match/match-host.ts'
import { matchPattern } from '../kit/match/match-pattern.ts'

/** What two entries of lists have in common: the narrower one, or nothing. */
export type Meet = (left: string, right: string) => string | undefined

/** What two lists of roots or patterns have in common, in order and without repetition. An empty list leaves nothing. */
export function intersect(left: readonly string[], right: readonly string[], meet: Meet): string[] {
  const met = left.flatMap((a) => right.map((b) => meet(a, b)).filter((item) => item !== undefined))
  return [...new Set(met)].sort()
}

/** Directories: the one inside of the other, at a segment boundary. `*` is every directory. */
export function meetRoots(left: string, right: string): string | undefined {
  if (left === '*' || isInside(right, left)) return right
  return right === '*' || isInside(left, right) ? left : undefined
}

/** Hosts: the narrower of two patterns, at label boundaries, for the port of whichever names one. */
export function meetHosts(left: string, right: string): string | undefined {
  const narrower = matchHost(left, right) ? right : matchHost(right, left) ? left : undefined
  if (narrower === undefined) return undefined
  const { host } = readHostPattern(narrower)
  const [port, other = port] = [left, right].flatMap((each) => readHostPattern(each).port ?? [])
  if (port === undefined) return narrower
  return port === other ? showHostPattern({ host, port }) : undefined
}

/** A pattern that matches another as text covers it. */
export function meetPatterns(left: string, right: string): string | undefined {
  if (matchPattern(left, right)) return right
  return matchPattern(right, left) ? left : undefined
}
